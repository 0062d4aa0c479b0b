internal import AppAttest
internal import Crypto

/// A verification whose signature is open, and where its record stands in the grain.
struct UnfinishedVerification {
    enum Object {
        case attestation(Prepared<AttestationEvidence>)
        case assertion(Prepared<AssertionEvidence>)
    }

    let place: Int
    let open: Object
    let seals: Seals?

    /// Whether the next step needs a signature's answer.
    var hasCheck: Bool {
        switch open {
        case .attestation(let prepared): prepared.check != nil
        case .assertion(let prepared): prepared.check != nil
        }
    }

    var check: SignatureCheck? {
        switch open {
        case .attestation(let prepared): prepared.check
        case .assertion(let prepared): prepared.check
        }
    }
}
