/// What a run has seen: inputs, and how often each reason was given.
struct Tally: Sendable {
    private(set) var inputs = 0
    /// Inputs that went through real signatures and OpenSSL, too.
    var crossChecked = 0
    private(set) var reasons: [String: Int] = [:]
    private(set) var mutatedAccepted = 0
    private(set) var resignedAccepted = 0
    private(set) var mistakes: [String] = []

    mutating func count(_ reason: String) {
        inputs += 1
        reasons[reason, default: 0] += 1
    }

    /// Damage to bytes that nothing signs: the object says the same as before.
    mutating func countHarmless() { mutatedAccepted += 1 }

    /// Damage that was signed again and changes nothing that counts.
    mutating func countResigned() { resignedAccepted += 1 }

    mutating func mistake(_ sentence: String) {
        if mistakes.count < 10 { mistakes.append(sentence) }
    }

    mutating func add(_ other: Tally) {
        inputs += other.inputs
        crossChecked += other.crossChecked
        mutatedAccepted += other.mutatedAccepted
        resignedAccepted += other.resignedAccepted
        reasons.merge(other.reasons, uniquingKeysWith: +)
        mistakes += other.mistakes.prefix(max(0, 10 - mistakes.count))
    }
}
