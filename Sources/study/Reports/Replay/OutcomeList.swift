internal import AppCheck
internal import Pipeline

/// Every outcome that a record can have, by a small number: 0 is accepted, then each reason.
package struct OutcomeList: Sendable {
    typealias Index = UInt8
    static let accepted: Index = 0
    /// The bits of a ``ReasonSet``.
    static let most = 128

    /// The reasons in the order of ``ReasonEntry/all``; index 1 is the first.
    let entries: [ReasonEntry]
    private let byReason: [Reason: Index]
    private let kinds: [MarkKind]

    package init() {
        entries = ReasonEntry.all
        precondition(entries.count < Self.most, "more reasons than a set of them can hold")
        let reasons = Reason.allCases
        byReason = Dictionary(uniqueKeysWithValues: reasons.enumerated().map { ($1, Index($0 + 1)) })
        kinds =
            [.accepted] + reasons.map { $0.isDeferral ? .deferred : .refused }
            + DeadLetterReason.allCases.map { _ in .deadLetter }
    }

    /// How many there are, accepted included.
    var count: Int { entries.count + 1 }
    var indices: Range<Int> { 0..<count }

    func kind(_ index: Int) -> MarkKind { kinds[index] }

    /// `accepted`, or the reason's name.
    func name(_ index: Int) -> String { index == 0 ? MarkKind.accepted.rawValue : entries[index - 1].code }

    /// - Returns: nil where there is no output, which a replay never has.
    func index(of outcome: Verdict.Outcome) -> Index? {
        switch outcome {
        case .accepted: Self.accepted
        case .refused(let reason, _), .deferred(let reason, _): byReason[reason]
        case .deadLetter(let reason): index(ofReason: reason.rawValue)
        case .applied: nil
        }
    }

    /// The index of a result's or dead letter's text; nil for one that this version does not have.
    func index(ofReason code: String) -> Index? {
        entries.firstIndex { $0.code == code }.map { Index($0 + 1) }
    }
}

struct ReasonSet {
    private var bits: UInt128 = 0

    /// - Returns: whether it was not in it yet.
    mutating func insert(_ index: OutcomeList.Index) -> Bool {
        defer { bits |= UInt128(1) << index }
        return !contains(Int(index))
    }

    func contains(_ index: Int) -> Bool { bits >> index & 1 == 1 }
}

/// A kind of outcome: its colour, and its name in a legend.
enum MarkKind: String, CaseIterable {
    case accepted, refused, deferred
    case deadLetter = "dead letter"

    var hue: Report.Hue {
        switch self {
        case .accepted: .blue
        case .refused: .orange
        case .deferred: .pink
        case .deadLetter: .grey
        }
    }
}
