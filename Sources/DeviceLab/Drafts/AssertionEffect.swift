internal import Crypto

/// The place where a fault does its damage: the earlier, the more is signed again over it.
enum AssertionEffect: Sendable {
    /// The object is right; it is the caller's expectations that refuse it.
    case none
    case draft(@Sendable (inout AssertionDraft) -> Void)
    case parts(@Sendable (inout AssertionParts) -> Void)
    /// Turns the right signature into the bytes that replace it.
    case signature(@Sendable (LabSignature) -> [UInt8])
    case topLevel(@Sendable (inout [CBORPair]) -> Void)
    case bytes(@Sendable (inout [UInt8]) -> Void)
}
