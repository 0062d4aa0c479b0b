internal import Crypto

/// The span in which a certificate may be used; both ends belong to it.
struct Validity: Sendable, Equatable {
    let notBefore: EvaluationTime
    let notAfter: EvaluationTime

    func contains(_ time: EvaluationTime) -> Bool { notBefore <= time && time <= notAfter }
}

extension Validity {
    init(of certificate: CACertificate) {
        notBefore = EvaluationTime(milliseconds: certificate.notBefore)
        notAfter = EvaluationTime(milliseconds: certificate.notAfter)
    }
}
