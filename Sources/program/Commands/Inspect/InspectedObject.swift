internal import AppAttest
internal import AppCheck
internal import CommandFrame
internal import Glibc
internal import JSON
internal import Settings

/// The object to explain: its bytes, and its apparent kind.
struct InspectedObject {
    enum Kind {
        case object(ObjectReport.Kind)
        /// Ours, not a device's.
        case artifact, token
    }

    /// Far above every object's own limit.
    private static let maxBytes = 1 << 20

    /// How the object is written.
    enum Form: String {
        case bytes, base64, hex, jwt
    }

    let bytes: [UInt8]
    let kind: Kind
    let form: Form

    /// - Parameter operand: a file's path, the object itself in base64 or hex, a token, or `-` for standard input. Files
    ///   hold the object, its base64 or its hex, or a token.
    init(_ operand: String) throws(UsageFault) {
        let (text, isFile) = try Self.content(operand)
        guard text.count <= Self.maxBytes else {
            throw UsageFault("inspect: more than \(Self.maxBytes) bytes: objects of devices are smaller.")
        }
        if let kind = Self.kind(of: text), isFile {
            (bytes, self.kind, form) = (text, kind, .bytes)
            return
        }
        let compact = Self.compact(text)
        if Self.isToken(compact) {
            (bytes, kind, form) = (compact, .token, .jwt)
            return
        }
        let readings = Self.readings(of: compact)
        for (read, form) in readings {
            guard let kind = Self.kind(of: read) else { continue }
            (bytes, self.kind, self.form) = (read, kind, form)
            return
        }
        guard !readings.isEmpty else {
            throw UsageFault(
                isFile
                    ? "inspect: \(operand.printable) holds neither an object nor base64 or hex of one."
                    : "inspect: '\(operand.prefix(40).description.printable)' is neither a file nor base64 or hex."
            )
        }
        let found = readings.reversed().map { read, form in
            "read as \(form.rawValue) it has \(read.count.counted("byte")) and begins with "
                + "\(ReportValue.bytes(Array(read.prefix(8))))"
        }
        throw UsageFault(
            "inspect: neither an attestation, an assertion, a receipt, an artifact nor a token: "
                + found.joined(separator: "; ") + "."
        )
    }

    init(receipt: [UInt8]) { (bytes, kind, form) = (receipt, .object(.receipt), .bytes) }

    /// The bytes that a text may stand for; hex first, since its digits are base64 too.
    private static func readings(of compact: [UInt8]) -> [(bytes: [UInt8], form: Form)] {
        let prefixed = compact.starts(with: Array("0x".utf8)) ? Array(compact.dropFirst(2)) : compact
        let digits = prefixed.filter { $0 != UInt8(ascii: ":") }
        return [(Hexadecimal.decode(digits), .hex), (Base64.decode(compact), .base64)].compactMap { bytes, form in
            bytes.flatMap { $0.isEmpty ? nil : ($0, form) }
        }
    }

    private static func compact(_ text: [UInt8]) -> [UInt8] { text.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } }

    /// Three parts of base64url, whatever is in them: neither base64 nor hex has a dot.
    private static func isToken(_ text: [UInt8]) -> Bool {
        let parts = text.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count == 3 && parts.allSatisfy { !$0.isEmpty && Base64.decode(Array($0)) != nil }
    }

    private static func content(_ operand: String) throws(UsageFault) -> ([UInt8], isFile: Bool) {
        if operand == "-" {
            return ((try? WholeFile.read(operand, most: maxBytes)) ?? [], true)
        }
        // The path is copied for the call.
        guard unsafe access(operand, F_OK) == 0 else { return (Array(operand.utf8), false) }
        guard let bytes = try? WholeFile.read(operand, most: maxBytes)
        else { throw UsageFault("inspect: cannot read \(operand.printable): check that it is a file and readable.") }
        return (bytes, true)
    }

    /// Guesses by the first bytes and the names inside; the checks decide whether the guess is right.
    private static func kind(of bytes: [UInt8]) -> Kind? {
        guard let first = bytes.first else { return nil }
        if Artifact.keyID(of: bytes) != nil { return .artifact }
        // A CMS message is a SEQUENCE that begins with the identifier of signedData.
        if first == 0x30 { return holds(signedData, bytes.prefix(32)) ? .object(.receipt) : nil }
        // A CBOR map, whichever way it is written.
        guard first & 0xE0 == 0xA0 else { return nil }
        let isAssertion =
            holds(Array("signature".utf8), bytes.prefix(32)) || holds(Array("authenticatorData".utf8), bytes[...])
        if isAssertion { return .object(.assertion) }
        return [0x63, 0x67].contains(bytes.dropFirst().first) || holds(Array("attStmt".utf8), bytes[...])
            ? .object(.attestation) : nil
    }

    /// 1.2.840.113549.1.7.2.
    private static let signedData: [UInt8] = [0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x02]

    private static func holds(_ part: [UInt8], _ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count >= part.count else { return false }
        return (bytes.startIndex...(bytes.endIndex - part.count)).contains { bytes[$0...].starts(with: part) }
    }
}
