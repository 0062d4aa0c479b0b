import Crypto
import TestKit
import Testing

/// Wycheproof's P-384 cases in groups, with digests of 256 and 384 bits.
@Suite(.enabled(if: WycheproofVectors.arePresent, Comment(rawValue: WycheproofVectors.absence)))
struct P384WycheproofTests {
    /// Making a table takes debug builds a while: of the many keys with few cases they take some.
    #if DEBUG
        private static let mostKeys = 12
    #else
        private static let mostKeys = Int.max
    #endif

    @Test(arguments: usable, ["sha256", "sha384"])
    func `groups accept Wycheproof's valid P-384 signatures and nothing else`(
        arithmetic: BatchArithmetic,
        digest: String
    ) throws {
        let groups = try WycheproofVectors.file("ecdsa_secp384r1_\(digest)_test").testGroups
        for vectors in groups.sorted(by: { $0.tests.count > $1.tests.count }).prefix(Self.mostKeys) {
            let key = try #require(P384PublicKey(x963: WycheproofVectors.bytes(hex: vectors.publicKey.uncompressed)))
            let table = P384Table(of: key)
            for start in stride(from: 0, to: vectors.tests.count, by: P384Group.most) {
                let tests = vectors.tests[start...].prefix(P384Group.most)
                check(Array(tests), table, arithmetic, isLong: digest == "sha384")
            }
        }
    }

    private func check(
        _ tests: [WycheproofFile.Case],
        _ table: P384Table,
        _ arithmetic: BatchArithmetic,
        isLong: Bool
    ) {
        let group = P384Group()
        let appended = tests.filter { test in
            let digest = Self.digest(WycheproofVectors.bytes(hex: test.msg), isLong: isLong)
            guard let number = P384Number(leftPadding: digest.span) else { return false }
            return group.append(number, WycheproofVectors.bytes(hex: test.sig))
        }
        var verdicts: [BatchVerdict] = []
        group.verify(table, by: arithmetic) { verdicts.append($1) }
        let accepted = zip(appended, verdicts).filter { $1 == .valid }.map(\.0.tcId)
        let undecided = zip(appended, verdicts).filter { $1 == .undecided }.map(\.0.tcId)
        let valid = tests.filter { $0.result == "valid" }.map(\.tcId)
        #expect(accepted == valid.filter { !undecided.contains($0) })
        #expect(verdicts.count == appended.count)
    }

    private static func digest(_ message: [UInt8], isLong: Bool) -> [UInt8] {
        isLong ? LabKey.sha384(message) : SHA256.hash(message).bytes
    }
}
