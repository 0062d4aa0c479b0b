/// The URI of a private key inside a PKCS #11 token (RFC 7512), such as
/// `pkcs11:token=worker;object=sign-a?module-path=/usr/lib/softhsm/libsofthsm2.so`.
package struct HSMKeyName: Hashable, Sendable {
    /// The absolute path of the module's library.
    package let module: String
    package let token: String?
    package let serial: String?
    package let object: String?
    package let identifier: [UInt8]?
    /// The URI as it was written.
    package let text: String

    /// What a URI lacks, or has too much: the end of a sentence.
    package struct Fault: Error, Equatable { package let problem: String }

    /// - Parameter isWhole: whether it must name an object; else it must not.
    package init(_ text: String, isWhole: Bool = true) throws(Fault) {
        guard text.hasPrefix("pkcs11:") else { throw Fault(problem: "must begin with pkcs11:") }
        let parts = text.dropFirst("pkcs11:".count).split(
            separator: "?",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        let path = try Self.attributes(parts[0], ";", ["token", "serial", "object", "id", "type"])
        let query = try Self.attributes(parts.count > 1 ? parts[1] : "", "&", ["module-path"])
        func string(_ bytes: [UInt8]?, _ name: String) throws(Fault) -> String? {
            guard let bytes else { return nil }
            guard !bytes.isEmpty, !bytes.contains(0), let string = String(validating: bytes, as: UTF8.self)
            else { throw Fault(problem: "has an empty or unreadable \(name)") }
            return string
        }
        guard let module = try string(query["module-path"], "module-path"), module.hasPrefix("/") else {
            throw Fault(problem: "must end in ?module-path= and the absolute path of the token's PKCS #11 library")
        }
        (token, serial) = (try string(path["token"], "token"), try string(path["serial"], "serial"))
        (object, identifier) = (try string(path["object"], "object"), path["id"])
        guard token != nil || serial != nil else { throw Fault(problem: "must name a token= or a serial=") }
        guard (object != nil || identifier?.isEmpty == false) == isWhole else {
            let problem = isWhole ? "must name an object= or an id=" : "must name no object: a fresh one gets its name"
            throw Fault(problem: problem)
        }
        guard path["type"].map({ $0 == Array("private".utf8) }) ?? true else {
            throw Fault(problem: "must name a private key: type=private, or no type")
        }
        (self.module, self.text) = (module, text)
    }

    /// The name of a key in the same token.
    ///
    /// - Parameter object: of letters that need no encoding.
    package func key(_ object: String) -> HSMKeyName {
        let parts = text.split(separator: "?", maxSplits: 1)
        guard let name = try? HSMKeyName("\(parts[0]);object=\(object)?\(parts[1])")
        else { preconditionFailure("a token's name and an object's make a key's") }
        return name
    }

    private static func attributes(
        _ text: Substring,
        _ separator: Character,
        _ known: [String]
    ) throws(Fault) -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for part in text.split(separator: separator) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(pair[0])
            guard !name.hasPrefix("pin-") else {
                throw Fault(problem: "must not carry a PIN; name its file: \"pin\": \"${file:PATH}\"")
            }
            guard known.contains(name) else {
                throw Fault(problem: "has an attribute other than \(known.joined(separator: ", "))")
            }
            guard pair.count == 2, let value = decode(pair[1]), values.updateValue(value, forKey: name) == nil
            else { throw Fault(problem: "has \(name) twice, or without a value in percent encoding") }
        }
        return values
    }

    private static func decode(_ text: Substring) -> [UInt8]? {
        var (bytes, rest) = ([UInt8](), text.utf8)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard digits.count == 2, let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(value)
        }
        return bytes
    }
}
