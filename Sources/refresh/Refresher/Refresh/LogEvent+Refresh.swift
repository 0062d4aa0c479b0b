internal import AppAttest
internal import Risk
internal import Settings
internal import Telemetry

extension LogEvent {
    /// The line of what a refresher tells. Apple's trace id is 16 or 32 hexadecimal digits.
    init(_ notice: RefreshNotice) {
        switch notice {
        case .breakerOpened(let account, let cause, let trace, let nextProbe):
            let probe = TimeText.rfc3339(nextProbe.milliseconds)
            self.init(
                .error,
                .riskBreakerOpen,
                "calls stop for \(Self.text(account)): \(cause.rawValue)\(Self.text(trace)); the next one at \(probe)"
            )
        case .breakerClosed(let account):
            self.init(.info, .riskBreakerClosed, "calls go on for \(Self.text(account))")
        case .rateLowered(let environment, let rate):
            self.init(
                .warning,
                .riskRateLowered,
                "Apple throttles \(environment.rawValue): \(Self.text(rate)) calls a second from now on"
            )
        case .rateRestored(let environment):
            self.init(.info, .riskRateRestored, "the rate for \(environment.rawValue) is restored")
        case .clock(let offset):
            let seconds = offset / 1_000
            self.init(.error, .riskClock, "this machine's clock is \(seconds) s off from Apple's: see to it")
        case .invalidAnswer(let environment, let code, let status, let trace):
            self.init(
                .warning,
                .riskAnswer,
                "an answer of Apple's for \(environment.rawValue) is of no use: \(status), \(code)\(Self.text(trace))"
            )
        case .skipped(let line, let environment, let outcome):
            self.init(
                .warning,
                .riskAnswer,
                "line \(line.name) skips a receipt for \(environment.rawValue) after its last call: \(outcome)"
            )
        case .unreadable(let pair, let offset):
            self.init(
                .warning,
                .riskRecord,
                "line \(pair.line.name) passes the record at partition \(pair.partition), offset \(offset): it is not a "
                    + "receipt that a worker wrote"
            )
        case .unserved(let prefix):
            self.init(
                .warning,
                .riskRecord,
                "receipts of App IDs with the prefix \(prefix.printable) are passed: no key of risk.keys serves it"
            )
        }
    }

    private static func text(_ account: CallAccount) -> String {
        "team \(account.team.printable), \(account.environment.rawValue)"
    }

    private static func text(_ trace: [UInt8]?) -> String {
        trace.map { ", trace \(String(decoding: $0, as: UTF8.self))" } ?? ""
    }

    private static func text(_ rate: Double) -> String { String((rate * 1000).rounded() / 1000) }
}
