internal import AppAttest
internal import Crypto
internal import Pipeline
internal import Streams

/// What the worker writes to the ledger topic for an accepted assertion, with the same few bytes for every key.
enum LedgerSample {
    /// Under the key of the request, so that the topic has as many keys as there are devices.
    static func record(of request: InboundRecord) -> OutboundRecord {
        let name = request.key ?? []
        return OutboundRecord(
            stream: .ledger,
            partition: request.partition,
            sourceOffset: -1,
            sourceTimestamp: -1,
            // As long as a key ID with its type byte.
            key: Array(key.prefix(1) + name.suffix(key.count - 1)),
            value: value
        )
    }

    private static let (key, value) = LedgerCodec.encode(.key(KeyID(digest), keyRecord))
    private static let digest = SHA256.hash(Array("sample".utf8))

    private static let keyRecord = KeyRecord(
        publicKey: P256PublicKey(uncheckedX: digest, y: digest),
        counter: 1000,
        app: "projects/123456789012/apps/1:123456789012:ios:0123456789abcdef",
        appleAppID: "ABCDE12345.com.example.app",
        environment: .production,
        validationCategory: 4,
        registeredAt: EvaluationTime(milliseconds: 1_790_000_000_000),
        nonce: digest,
        issued: IssueTime(notBefore: EvaluationTime(milliseconds: 1_789_000_000_000), serial: 1 << 60),
        lastRequest: LastRequest(
            id: "0f8fad5b-d9cb-469f-a165-70867350411e",
            valueDigest: digest,
            issuedAt: 0,
            expiresAt: 0
        )
    )
}
