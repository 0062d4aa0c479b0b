internal import JSON
internal import Kafka
internal import Settings

extension BearerToken {
    /// Reads what a token command printed.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Throws: ``ProgramFault`` with nothing of what was printed.
    init(printed bytes: [UInt8], now: Int64) throws(ProgramFault) {
        guard let root = try? JSONDocument(parsing: bytes, maxDepth: 8, maxNodes: 512).root, root.kind == .object else {
            throw ProgramFault(clause: "printed something else than one JSON object")
        }
        guard let text = root["token"]?.string, Self.isVisible(text) else { throw Self.unusable("token", "a token") }
        guard let principal = root["principal"]?.string, Self.isVisible(principal) else {
            throw Self.unusable("principal", "a name")
        }
        guard let end = root["lifetimeMs"]?.integer else {
            throw Self.unusable("lifetimeMs", "a whole number: the time of the token's end, milliseconds since 1970")
        }
        guard end > now else {
            throw ProgramFault(
                clause: "printed a token that has ended (lifetimeMs is the time of its end, milliseconds since 1970)"
            )
        }
        // A time in microseconds is taken for one of these.
        guard end - now < Self.longest else {
            throw Self.unusable("lifetimeMs", "less than a year ahead, in milliseconds since 1970")
        }
        var extensions: [String] = []
        for member in root["extensions"]?.members ?? [] {
            let name = String(decoding: member.name, as: UTF8.self)
            guard Self.isName(name), let value = member.value.string, Self.isVisible(value) else {
                throw Self.unusable("extensions", "an object of texts, with names of letters")
            }
            extensions += [name, value]
        }
        self.init(text: text, principal: principal, end: end, extensions: extensions)
    }

    private static let longest: Int64 = 366 * 24 * 60 * 60 * 1000

    /// What SASL and the library take: control characters would end the token's part of the message.
    private static func isVisible(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }

    private static func isName(_ text: String) -> Bool {
        text.lowercased() != "auth" && !text.isEmpty && text.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) }
    }

    private static func unusable(_ member: String, _ wanted: String) -> ProgramFault {
        ProgramFault(clause: "printed an object whose \(member) is not \(wanted)")
    }
}
