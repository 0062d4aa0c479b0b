internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Pipeline

/// Records of keys as a worker writes them, all different.
enum SampleKeys {
    private static func point(_ random: inout SeededRandom) -> P256PublicKey {
        P256PublicKey(uncheckedX: digest(&random), y: digest(&random))
    }

    private static func digest(_ random: inout SeededRandom) -> Digest {
        Digest(words: (random.next(), random.next(), random.next(), random.next()))
    }

    /// A key ID is the SHA-256 of the point.
    private static func id(of key: P256PublicKey) -> KeyID { KeyID(SHA256.hash([4] + key.x.bytes + key.y.bytes)) }

    static func id(_ number: Int) -> KeyID {
        var random = SeededRandom(seed: UInt64(number))
        return id(of: point(&random))
    }

    static func change(_ number: Int) -> LedgerChange {
        var random = SeededRandom(seed: UInt64(number))
        let publicKey = point(&random)
        let record = KeyRecord(
            publicKey: publicKey,
            counter: UInt32(number % 100_000),
            app: "projects/123456789012/apps/1:123456789012:ios:0123456789abcde\(number % 3)",
            appleAppID: "ABCDE12345.com.example.app\(number % 3)",
            environment: .production,
            validationCategory: 4,
            registeredAt: EvaluationTime(milliseconds: 1_790_000_000_000 + Int64(number)),
            nonce: digest(&random),
            issued: IssueTime(
                notBefore: EvaluationTime(milliseconds: 1_789_000_000_000),
                // Apple's is the millisecond of issue.
                serial: 1_789_000_000_000 + Int64(number)
            ),
            lastRequest: LastRequest(
                id: "0f8fad5b-d9cb-469f-a165-\(String(708_673_504_112 + number))",
                valueDigest: digest(&random),
                issuedAt: 1_790_000_000,
                expiresAt: 1_790_003_600
            )
        )
        return .key(id(of: publicKey), record)
    }
}
