/// The place where a fault does its damage: the earlier, the more is signed again over it.
enum AttestationEffect: Sendable {
    /// The object is right; it is the caller's expectations that refuse it.
    case none
    case draft(@Sendable (inout AttestationDraft) -> Void)
    case parts(@Sendable (inout AttestationParts) -> Void)
    case statement(@Sendable (inout [CBORPair]) -> Void)
    case topLevel(@Sendable (inout [CBORPair]) -> Void)
    case bytes(@Sendable (inout [UInt8]) -> Void)
}
