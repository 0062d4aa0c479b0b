/// Verifies groups of signatures: the interface for a faster engine.
///
/// An engine belongs to one lane; it may keep scratch and is never called by two threads at once.
package protocol SignatureEngine: AnyObject {
    /// - Returns: one answer per check, in order; false for anything but a valid signature.
    func verify(_ checks: [SignatureCheck]) -> [Bool]
}
