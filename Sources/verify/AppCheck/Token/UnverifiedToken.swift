package import AppAttest
internal import JSON

/// A token taken apart: three parts of strict base64url, header and payload JSON objects without duplicate members.
/// Nothing is verified.
package struct UnverifiedToken {
    /// A token of ours has under 2,000 bytes.
    static let maxBytes = 8_192

    let header: JSONNode
    let payload: JSONNode
    /// `header.payload`.
    let signingInput: [UInt8]
    let signature: [UInt8]

    /// The key's name.
    package var kid: ExactText? { header["kid"]?.stringBytes.flatMap { ExactText(validating: $0) } }

    package init?(_ token: [UInt8]) {
        guard token.count <= Self.maxBytes else { return nil }
        let parts = token.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let payload = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]), !signature.isEmpty
        else { return nil }
        (self.header, self.payload, self.signature) = (header, payload, signature)
        signingInput = Array(token[..<parts[1].endIndex])
    }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONNode? {
        var beginning: JSONBeginning?
        guard let text = Base64URL.decode(part),
            let document = try? JSONDocument(parsing: text, .record, beginning: &beginning),
            document.root.kind == .object, !document.root.hasDuplicateMembers
        else { return nil }
        return document.root
    }
}
