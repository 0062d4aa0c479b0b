internal import Crypto
package import Pipeline

/// Lines of a KEYS file whose public key can never verify anything, by what is wrong with it.
package struct UnusableKeys: Sendable {
    private enum Flaw: String, CaseIterable {
        case noPoint =
            "publicKey is not a key on P-256 (a point, compressed or not, X and Y, or a SubjectPublicKeyInfo)"
        case otherKeyID = "publicKey belongs to another keyId, which is SHA-256 of the point's 65 bytes"
    }

    private var lines: [Flaw: (count: Int, first: Int)] = [:]

    package init() {}

    /// - Parameter record: what became of the line.
    package mutating func note(_ key: ImportedKey, _ record: KeyRecord, line: Int) {
        guard record.publicKey == nil else { return }
        let flaw: Flaw = P256PublicKey(x963: key.publicKeyBytes) == nil ? .noPoint : .otherKeyID
        lines[flaw, default: (0, line)].count += 1
    }

    /// A line for each flaw that there is.
    package func warnings(of path: String) -> [String] {
        Flaw.allCases.compactMap { flaw in
            guard let (count, first) = lines[flaw] else { return nil }
            let place = count == 1 ? "line \(first)" : "\(count) lines, the first of them line \(first)"
            return "\(path.printable): \(place): \(flaw.rawValue); the key is kept, and its assertions are key-invalid"
        }
    }
}
