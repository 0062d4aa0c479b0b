internal import AppAttest
internal import AppCheck
internal import Pipeline
internal import Streams

/// A record that was not accepted, as the report lists it. No token, artifact or challenge is in it.
struct RecordExample: Sendable {
    let place: RecordPlace
    /// Milliseconds since 1970; −1 for none.
    let time: Int64
    let outcome: OutcomeList.Index
    /// The app as ``RegisteredApp/label``; nil where the path names no configured app.
    let app: String?
    let verb: Verb?
    let keyID: KeyID?
    /// The check at which the reason is judged.
    let comparisons: [Comparison]
    let reading: FittingReading?

    init(_ explanation: Explanation, _ outcome: OutcomeList.Index) {
        place = RecordPlace(explanation.record.record)
        time = explanation.record.record.timestamp
        self.outcome = outcome
        (app, verb, keyID) = (explanation.appLabel, explanation.verb, explanation.keyID)
        (comparisons, reading) = (explanation.comparisons, explanation.reading)
    }
}

/// The first records of each outcome that is not accepted.
struct ExampleSample {
    private let mostEach: Int
    /// Examples by outcome.
    private var examples: [[RecordExample]]

    init(outcomes: Int, mostEach: Int = 50) {
        self.mostEach = mostEach
        examples = [[RecordExample]](repeating: [], count: outcomes)
    }

    subscript(outcome: Int) -> [RecordExample] { examples[outcome] }

    func wants(_ outcome: OutcomeList.Index) -> Bool {
        outcome != OutcomeList.accepted && examples[Int(outcome)].count < mostEach
    }

    mutating func add(_ example: RecordExample) { examples[Int(example.outcome)].append(example) }

    /// Every outcome gets its first, then its second, until there are enough; in the order of `outcomes`, then of time.
    func picked(_ outcomes: [Int], most: Int) -> [RecordExample] {
        var picked: [RecordExample] = []
        for round in 0..<mostEach {
            for outcome in outcomes where examples[outcome].indices.contains(round) {
                guard picked.count < most else { break }
                picked.append(examples[outcome][round])
            }
        }
        func order(_ example: RecordExample) -> (Int, Int64, Int32, Int64) {
            let rank = outcomes.firstIndex(of: Int(example.outcome)) ?? outcomes.count
            return (rank, example.time, example.place.partition, example.place.offset)
        }
        return picked.sorted { order($0) < order($1) }
    }
}
