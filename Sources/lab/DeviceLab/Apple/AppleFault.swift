internal import AppAttest

/// One fault of Apple's answers, by name.
package struct AppleFault: Sendable {
    /// What a client gets that is patient, and trims white space around a receipt.
    package enum Result: Sendable, Equatable {
        /// The receipt that its call deserves.
        case receipt
        /// A 200 that it must refuse, or no whole answer.
        case unusable
        /// Another status than 200.
        case status(Int)
    }

    enum Effect: Sendable {
        /// The answer to any call.
        indirect case instead(AppleAnswer)
        case exchange(@Sendable (inout AppleExchange, LabCA, inout SeededRandom) -> Void)
        case answer(@Sendable (inout AppleAnswer) -> Void)
    }

    /// How many calls in a row have the fault once it has begun, where faults come in bursts.
    static let burstCalls = 2...8

    package let name: String
    package let result: Result
    package let isBurst: Bool
    private let effect: Effect

    init(_ name: String, _ result: Result, isBurst: Bool = false, _ effect: Effect) {
        (self.name, self.result, self.isBurst, self.effect) = (name, result, isBurst, effect)
    }

    static func instead(_ name: String, _ answer: AppleAnswer, isBurst: Bool = false) -> Self {
        let result: Result = answer.status == 200 ? .unusable : .status(answer.status)
        return Self(name, result, isBurst: isBurst, .instead(answer))
    }

    static func exchange(_ name: String, _ edit: @escaping @Sendable (inout AppleExchange) -> Void) -> Self {
        Self(name, .unusable, .exchange { exchange, _, _ in edit(&exchange) })
    }

    static func facts(_ name: String, _ edit: @escaping @Sendable (inout ReceiptFacts) -> Void) -> Self {
        exchange(name) { edit(&$0.facts) }
    }

    /// nil where the call is judged first.
    var answerInstead: AppleAnswer? { if case .instead(let answer) = effect { answer } else { nil } }

    func edit(_ exchange: inout AppleExchange, _ ca: LabCA, _ random: inout SeededRandom) {
        if case .exchange(let edit) = effect { edit(&exchange, ca, &random) }
    }

    func edit(_ answer: inout AppleAnswer) { if case .answer(let edit) = effect { edit(&answer) } }
}

extension AppleFault: Hashable {
    package static func == (one: Self, other: Self) -> Bool { one.name == other.name }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A call that gets a receipt.
struct AppleExchange {
    let sent: [UInt8]
    /// The content of what was sent.
    let content: ReceiptContent
    /// What the new receipt says.
    var facts: ReceiptFacts
    /// Whether its chain ends at a root that is not the authority's.
    var isForeign = false
    /// The receipt that is sent instead of a new one.
    var answered: [UInt8]?
}
