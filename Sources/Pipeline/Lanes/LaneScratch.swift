package import AppAttest
package import Crypto

/// A lane's private tools: the verifier with its caches, the signature engine with its scratch.
package final class LaneScratch {
    package let verifier: ObjectVerifier
    package let engine: any SignatureEngine
    /// The records that the lane works on.
    package let work: WorkSlot

    package init(verifier: ObjectVerifier, engine: any SignatureEngine, work: WorkSlot = WorkSlot()) {
        self.verifier = verifier
        self.engine = engine
        self.work = work
    }
}
