internal import BrokerKit

/// A clock that was set and set back again.
package struct ClockJump: Sendable, CustomStringConvertible {
    package var name: String
    package var milliseconds: Int
    /// How long it was wrong.
    package var seconds = 0.0
    /// After how many seconds the worker doubted its clock; nil = it did not.
    package var doubtedAfter: Double?
    /// How often it did: more than once where it went on too early.
    package var doubts = 0
    /// How many requests it answered while it doubted its clock; nil = the doubt was too short to count.
    package var answeredInDoubt: Int?
    /// Whether it was seen not to be ready, and ready again after that.
    package var wasUnready = false
    package var isReadyAgain = false
    /// The worker's process ended before it could agree.
    package var hasEnded = false
    /// How many seconds after it was right again the worker said so; nil = it did not, or did not doubt.
    package var agreedAfter: Double?

    /// The worker, if it doubted its clock and was not ended meanwhile, has said that it does no longer, and is ready.
    package var isOver: Bool { doubtedAfter == nil || (agreedAfter != nil && isReadyAgain) || hasEnded }

    package var description: String {
        func text(_ seconds: Double) -> String { seconds.tenths + " s" }
        let size = (milliseconds < 0 ? "-" : "+") + Duration.milliseconds(abs(milliseconds)).text
        let often = doubts > 1 ? " and \(doubts) times" : ""
        let doubt = doubtedAfter.map { ", doubted after \(text($0))\(often)" } ?? ""
        let agreed =
            agreedAfter.map { ", agreed \(text($0)) after its end" } ?? (doubtedAfter == nil ? "" : ", NOT agreed")
        let ready =
            doubtedAfter == nil ? "" : ", \(wasUnready ? "" : "NOT ")unready, \(isReadyAgain ? "" : "NOT ")ready again"
        let answers = answeredInDoubt.map { ", \($0) requests answered meanwhile" } ?? ""
        let end = hasEnded ? ", ended meanwhile" : ""
        return "the clock of \(name) by \(size) for \(text(seconds))\(doubt)\(agreed)\(answers)\(ready)\(end)"
    }
}

/// What a worker says of its clock, from a jump on. For one thread at a time.
final class ClockDoubtWatch {
    private static let interval = Duration.milliseconds(250)
    private static let settling = Duration.seconds(2)
    /// A worker says soon that its doubt is over.
    private static let patience = Duration.seconds(60)

    private let process: ProgramProcess
    /// The port of its metrics and readiness.
    private let port: UInt16
    private let begin = ContinuousClock.now
    private let doubtsBefore: Int
    private let agreementsBefore: Int
    private var lastLook = ContinuousClock.now
    private var answeredBefore: Int?
    private var right: ContinuousClock.Instant?
    private(set) var isOver = false

    init(_ process: ProgramProcess, port: UInt16) {
        (self.process, self.port) = (process, port)
        doubtsBefore = process.errors("clock.doubted")
        agreementsBefore = process.errors("clock.agreed")
    }

    /// - Parameter isRight: the clock is right again.
    func look(_ jump: inout ClockJump, isRight: Bool) {
        let now = ContinuousClock.now
        if isRight, right == nil { right = now }
        guard now - lastLook >= Self.interval else { return }
        lastLook = now
        jump.doubts = process.errors("clock.doubted") - doubtsBefore
        if jump.doubtedAfter == nil, jump.doubts > 0 { jump.doubtedAfter = (now - begin) / .seconds(1) }
        lookAtReadiness(&jump)
        countAnswers(&jump, now)
        guard let right else { return }
        let isAgreed = process.errors("clock.agreed") - agreementsBefore >= jump.doubts
        if jump.doubtedAfter != nil, isAgreed, jump.agreedAfter == nil {
            jump.agreedAfter = (now - right) / .seconds(1)
        }
        // It has nothing more to say, or not as this process.
        jump.hasEnded = !process.isRunning
        isOver = jump.isOver || now - right > Self.patience
    }

    /// A worker that is paused answers nothing.
    private func page(_ path: String) -> (status: Int, body: String) { Curl.page(Int(port), path, seconds: 0.5) }

    /// What is answered between two looks in a doubt that lasts; batches that were judged before it have their time.
    private func countAnswers(_ jump: inout ClockJump, _ now: ContinuousClock.Instant) {
        guard let doubted = jump.doubtedAfter, right == nil, process.isRunning,
            now - begin > .seconds(doubted) + Self.settling
        else { return }
        let page = page("/metrics")
        guard page.status != 0 else { return }
        let count = Curl.sum("attest_requests_total", page.body)
        let first = answeredBefore ?? count
        answeredBefore = first
        jump.answeredInDoubt = count - first
    }

    private func lookAtReadiness(_ jump: inout ClockJump) {
        // A doubt shows in the log first.
        guard jump.doubtedAfter != nil else { return }
        switch page("/readyz").status {
        case 503: jump.wasUnready = true
        case 200 where jump.wasUnready && jump.agreedAfter != nil: jump.isReadyAgain = true
        default: break
        }
    }
}
