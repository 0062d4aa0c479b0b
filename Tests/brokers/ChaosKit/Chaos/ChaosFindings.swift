package import Streams

/// A checker's counts: how often each promise was broken, with a few places.
package struct ChaosFindings: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case lost = "requests lost"
        case doubled = "outcomes doubled"
        case unasked = "outcomes of nothing"
        case misplaced = "on a foreign partition"
        case outOfOrder = "out of order"
        case counterTwice = "counters accepted twice"
        case verdictDiffers = "verdict differences"
        case bytesDiffer = "differences beside the verdict"
        case ledgerDiffers = "ledger differences"
        case challengeTwice = "challenges accepted twice"
        case tokenUsedTwice = "tokens used up twice"
        case answerLost = "answers lost"
        case answerUnasked = "answers of nothing"
        case tokenDiffers = "tokens of one request that differ"
        case tokenIDTwice = "token ids of two requests"
        case eventsDiffer = "event differences"
        case ledgerTooLarge = "ledger beyond its bound"
        case openTransaction = "transactions left open"
        case answerCrossed = "answers of another call"
        case clientMisled = "answers that a client cannot use"
        case clientWithout = "clients without a token"
        case clientKeyDiffers = "clients with another key than the topics'"
    }

    package private(set) var counts: [Kind: Int] = [:]
    /// The first few of each kind, a line each.
    package private(set) var examples: [Kind: [String]] = [:]
    /// The sources of the first outcomes whose bytes differ from the replay's.
    package private(set) var differing: Set<RecordPlace> = []
    /// The promises that could not be checked, with the reason.
    package var unchecked: [Kind: String] = [:]

    private static let shown = 5

    package subscript(kind: Kind) -> Int { counts[kind, default: 0] }

    /// No finding; unchecked promises do not count.
    package var isClean: Bool { counts.values.allSatisfy { $0 == 0 } }

    package mutating func add(_ kind: Kind, _ example: @autoclosure () -> String) {
        counts[kind, default: 0] += 1
        if counts[kind, default: 0] <= Self.shown { examples[kind, default: []].append(example()) }
    }

    /// Counts an outcome whose bytes differ from the replay's.
    package mutating func add(differing outcome: ChaosOutcome) {
        if differing.count < Self.shown { differing.insert(outcome.source) }
        add(.bytesDiffer, "\(outcome.source), written at \(outcome.written)")
    }

    /// Adds an example to a kind that is counted already.
    package mutating func explain(_ kind: Kind, _ example: String) { examples[kind, default: []].append(example) }

    /// A line per kind, then the examples.
    package var lines: [String] {
        let width = Kind.allCases.map(\.rawValue.count).max() ?? 0
        let table = Kind.allCases.map { kind in
            let count = unchecked[kind].map { "not checked: \($0)" } ?? String(self[kind])
            return kind.rawValue + String(repeating: " ", count: width - kind.rawValue.count + 2) + count
        }
        let places = Kind.allCases.flatMap { kind in (examples[kind] ?? []).map { "  \(kind.rawValue): \($0)" } }
        return table + places
    }
}
