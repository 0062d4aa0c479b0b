package import Foundation

/// A signature file of Project Wycheproof: groups of cases, each group with one public key.
package struct WycheproofFile: Decodable, Sendable {
    package struct Group: Decodable, Sendable {
        package struct Key: Decodable, Sendable {
            /// The X9.63 uncompressed form in hex.
            package let uncompressed: String
        }
        package let publicKey: Key
        package let tests: [Case]
    }

    package struct Case: Decodable, Sendable {
        package let tcId: Int
        package let comment: String
        package let flags: [String]
        /// Hex, both.
        package let msg: String
        package let sig: String
        /// `valid`, `invalid` or `acceptable` (a spelling that lax readers take).
        package let result: String
    }

    package let numberOfTests: Int
    package let testGroups: [Group]
}

/// Where the vectors lie: `$ATTEST_VECTORS`, else `shared/vectors` beside the checkout.
package enum WycheproofVectors {
    package static var directory: URL { Vectors.directory }

    /// Whether the files are there: for a test's `.enabled(if:)`.
    package static var arePresent: Bool {
        FileManager.default.fileExists(atPath: directory.appendingPathComponent("wycheproof").path)
    }

    /// The message of a skipped test.
    package static let absence = "no vectors: set ATTEST_VECTORS to their folder"

    /// - Parameter name: the file's name without `.json`.
    package static func file(_ name: String) throws -> WycheproofFile {
        let url = directory.appendingPathComponent("wycheproof/\(name).json")
        return try JSONDecoder().decode(WycheproofFile.self, from: Data(contentsOf: url))
    }

    /// The bytes of a hex text.
    package static func bytes(hex: String) -> [UInt8] {
        precondition(hex.utf8.count.isMultiple(of: 2), "hex has two digits a byte")
        let digits = hex.compactMap(\.hexDigitValue)
        precondition(digits.count == hex.utf8.count, "only hex digits")
        return stride(from: 0, to: digits.count, by: 2).map { (place: Int) -> UInt8 in
            UInt8(digits[place] * 16 + digits[place + 1])
        }
    }
}
