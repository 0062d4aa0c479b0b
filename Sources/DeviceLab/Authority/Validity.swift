internal import AppAttest

struct Validity: Sendable {
    let notBefore: EvaluationTime
    let notAfter: EvaluationTime

    /// The validity of the lab's standing authorities, up to the last year of UTCTime; the others are years off.
    static let long = Validity(from: (2010, 1, 1), to: (2049, 12, 31))
    static let past = Validity(from: (2001, 1, 1), to: (2002, 1, 1))
    static let future = Validity(from: (2049, 1, 1), to: (2049, 12, 31))

    init(from: (Int, Int, Int), to: (Int, Int, Int)) {
        notBefore = CivilTime.midnight(from.0, from.1, from.2)
        notAfter = CivilTime.midnight(to.0, to.1, to.2)
    }
}
