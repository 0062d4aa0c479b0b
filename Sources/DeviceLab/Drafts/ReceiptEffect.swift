internal import Crypto

/// The place where a fault does its damage: the earlier, the more is signed again over it.
enum ReceiptEffect: Sendable {
    case none
    /// No receipt at all.
    case absent
    case draft(@Sendable (inout ReceiptDraft, ReceiptContext) -> Void)
    /// Changes the payload after it was signed.
    case content(@Sendable (inout [UInt8]) -> Void)
    /// Turns the right signature into the bytes that replace it.
    case signature(@Sendable (LabSignature) -> [UInt8])
    case bytes(@Sendable (inout [UInt8]) -> Void)
}
