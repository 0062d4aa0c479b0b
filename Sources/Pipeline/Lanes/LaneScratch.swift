package import AppAttest
package import Crypto

/// A lane's private tools: the verifier with its caches, the signature engine with its scratch.
package final class LaneScratch {
    package let verifier: ObjectVerifier
    package let engine: any SignatureEngine
    /// The records that the lane works on.
    package let work: WorkSlot
    /// The verifications of the grain in hand whose signatures are open; empty between two grains.
    var unfinished: [UnfinishedVerification] = []
    /// The open signatures of a round, where their records stand in the grain, and the answers. Kept from one round to
    /// the next for their memory only.
    var checks: [SignatureCheck] = []
    var places: [Int] = []
    var answers = SignatureAnswers()

    package init(verifier: ObjectVerifier, engine: any SignatureEngine, work: WorkSlot = WorkSlot()) {
        self.verifier = verifier
        self.engine = engine
        self.work = work
    }

    func beginRound() {
        checks.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }
}
