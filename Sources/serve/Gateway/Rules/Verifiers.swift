internal import AppAttest
internal import Crypto
package import Settings

/// Who may use tokens up with a bearer secret. Immutable; a reload makes new ones.
package struct Verifiers: Sendable {
    private var names: [Digest: String] = [:]

    /// - Parameter text: a line for each secret: a name, a blank, and the secret's SHA-256 in 64 hexadecimal digits.
    ///   Empty lines and lines that begin with `#` are comments. A name may have several secrets.
    /// - Throws: ``CommandFault`` with the first bad line: the end of a sentence.
    package init(_ text: [UInt8]) throws(CommandFault) {
        let lines = text.split(separator: 0x0A, omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let words = line.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D })
            guard let first = words.first, first.first != UInt8(ascii: "#") else { continue }
            guard words.count == 2, let digest = Hexadecimal.decode(Array(words[1])).flatMap({ Digest($0) }) else {
                throw CommandFault(
                    "line \(index + 1) is not a name and the SHA-256 of its secret in 64 hexadecimal digits"
                )
            }
            names[digest] = String(decoding: first, as: UTF8.self)
        }
    }

    /// The caller with this secret. Its digest is looked up: the time that this takes reveals nothing about the secret.
    func name(secret: ArraySlice<UInt8>) -> String? { names.isEmpty ? nil : names[SHA256.hash(Array(secret))] }
}
