internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Pipeline

/// Records of keys as a worker writes them, all different.
enum SampleKeys {
    static func change(_ number: Int) -> LedgerChange {
        var random = SeededRandom(seed: UInt64(number))
        func digest() -> Digest {
            Digest(words: (random.next(), random.next(), random.next(), random.next()))
        }
        let key = KeyID(digest())
        let record = KeyRecord(
            publicKey: P256PublicKey(uncheckedX: digest(), y: digest()),
            counter: UInt32(number % 100_000),
            app: "projects/123456789012/apps/1:123456789012:ios:0123456789abcde\(number % 3)",
            appleAppID: "ABCDE12345.com.example.app\(number % 3)",
            environment: .production,
            validationCategory: 4,
            registeredAt: EvaluationTime(milliseconds: 1_790_000_000_000 + Int64(number)),
            nonce: digest(),
            issued: IssueTime(
                notBefore: EvaluationTime(milliseconds: 1_789_000_000_000),
                serial: Int64(truncatingIfNeeded: random.next() >> 1)
            ),
            lastRequest: LastRequest(
                id: "0f8fad5b-d9cb-469f-a165-\(String(708_673_504_112 + number))",
                valueDigest: digest(),
                issuedAt: 1_790_000_000,
                expiresAt: 1_790_003_600
            )
        )
        return .key(key, record)
    }
}
