internal import Crypto
internal import HTTP
internal import JSON

/// Makes the ids of requests. No id depends on a body: a client that repeats another's body would get its answer. No id
/// depends on what a client behind a proxy can write: a client that names its request can use one token many times.
struct RequestIDs: Sendable {
    /// The longest id that is taken from a header.
    private static let mostBytes = 128
    private static let freshBytes = 16
    private static let bootBytes = 8

    /// The process's own bytes: should its random numbers ever repeat another's, ids do not.
    private let boot: [UInt8]
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameter randomBytes: bytes that no caller can predict.
    init(randomBytes: @escaping @Sendable (Int) -> [UInt8]) {
        (boot, self.randomBytes) = (randomBytes(Self.bootBytes), randomBytes)
    }

    /// The id of a call that a device or a verifier makes itself; ``fresh()`` is that of a call that a proxy makes.
    ///
    /// - Parameter isVerifiers: ``Verb/isVerifiers``.
    /// - Returns: nil for an `Idempotency-Key` that is empty, too long, not of visible ASCII, or not the only one.
    func id(of call: HTTPCall, from caller: Caller, isVerifiers: Bool) -> [UInt8]? {
        let keys = call.values("idempotency-key")
        if isVerifiers, caller.hasSecret, let verifier = caller.verifier, let key = keys.first {
            guard keys.count == 1, Self.isVisible(key) else { return nil }
            // The name has no zero byte, so no two pairs share an id.
            return Array("verifier-".utf8) + Base64.encodeURL(SHA256.hash(Array(verifier.utf8) + [0] + key).bytes)
        }
        let given = call.values("x-request-id")
        if caller.isTrustedProxy, given.count == 1, let id = given.first, Self.isVisible(id) { return id }
        return fresh()
    }

    func fresh() -> [UInt8] { Base64.encodeURL(boot + randomBytes(Self.freshBytes)) }

    private static func isVisible(_ text: [UInt8]) -> Bool {
        (1...mostBytes).contains(text.count) && text.allSatisfy { (0x21...0x7E).contains($0) }
    }
}
