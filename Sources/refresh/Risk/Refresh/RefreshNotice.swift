package import AppAttest

/// What a refresher tells of its course, for the log. It names no receipt, no token and no key.
package enum RefreshNotice: Sendable, Equatable {
    case breakerOpened(CallAccount, CallFailure, trace: [UInt8]?, nextProbe: EvaluationTime)
    case breakerClosed(CallAccount)
    /// Calls a second of this instance.
    case rateLowered(Environment, Double)
    case rateRestored(Environment)
    /// Milliseconds from Apple's clock until ours.
    case clock(offset: Int64)
    /// An answer that is not understood, or not genuine, or refuses a receipt, by its code.
    case invalidAnswer(Environment, code: String, status: Int, trace: [UInt8]?)
    /// A receipt whose last call has failed.
    case skipped(ReceiptLine, Environment, outcome: String)
    /// A record that no worker writes.
    case unreadable(LinePair, offset: Int64)
    /// Receipts of App IDs for which no key speaks; they are passed.
    case unserved(prefix: String)

    /// Notices of one cause are the same thing said again.
    fileprivate var cause: String {
        switch self {
        case .breakerOpened(let account, let failure, _, _): "opened \(account) \(failure)"
        case .breakerClosed(let account): "closed \(account)"
        case .rateLowered(let environment, _): "lowered \(environment)"
        case .rateRestored(let environment): "restored \(environment)"
        case .clock: "clock"
        case .invalidAnswer(let environment, let code, _, _): "invalid \(environment) \(code)"
        case .skipped(let line, let environment, let outcome): "skipped \(line) \(environment) \(outcome)"
        case .unreadable(let pair, _): "unreadable \(pair.line)"
        case .unserved(let prefix): "unserved \(prefix)"
        }
    }
}

/// Notices that wait to be logged: of one cause one a minute.
struct NoticeList: Sendable {
    /// Causes are few: those of accounts and of codes.
    private static let mostCauses = 1_000

    private var waiting: [RefreshNotice] = []
    private var said: [String: EvaluationTime] = [:]
    private var lowered: Set<Environment> = []

    mutating func take() -> [RefreshNotice] {
        defer { waiting = [] }
        return waiting
    }

    mutating func add(_ notice: RefreshNotice, at time: EvaluationTime) {
        if let last = said[notice.cause], (0..<Milliseconds.minute).contains(time.since(last)) { return }
        if said.count >= Self.mostCauses { said = [:] }
        said[notice.cause] = time
        waiting.append(notice)
    }

    /// An answer that is of no use.
    mutating func add(
        _ outcome: CallOutcome,
        _ environment: Environment,
        _ answer: ReceiptAnswer?,
        at time: EvaluationTime
    ) {
        guard let code = outcome.answerCode else { return }
        let (status, trace) = (answer?.status ?? 0, answer?.traceID)
        add(.invalidAnswer(environment, code: code, status: status, trace: trace), at: time)
    }

    mutating func noteLowered(_ environment: Environment, _ rate: Double, at time: EvaluationTime) {
        lowered.insert(environment)
        add(.rateLowered(environment, rate), at: time)
    }

    /// Notices a rate that hours without an answer 429 have given back.
    mutating func checkRates(_ bucket: CallBucket, at time: EvaluationTime) {
        for environment in lowered where !bucket.isLowered(in: environment) {
            lowered.remove(environment)
            add(.rateRestored(environment), at: time)
        }
    }
}

extension CallOutcome {
    /// Why an answer was not understood, or what it complains about; nil for every other outcome.
    fileprivate var answerCode: String? {
        switch self {
        case .invalid(let reason): reason.rawValue
        case .notGenuine(let refusal): refusal.code
        case .refused(let complaint): complaint.rawValue
        case .unexpected: "unexpected"
        default: nil
        }
    }
}
