internal import HTTPClient
internal import Risk
internal import Settings

/// An answer for people: status, headers and the text of an error, without anything that was sent.
struct ExchangeView {
    /// The bytes of a header, or of a body.
    private static let mostShown = 200
    /// So many bytes that were sent do not stand in an answer by chance.
    private static let leastSecret = 16

    private let ending: ExchangeEnding
    private let sent: [[UInt8]]

    /// - Parameter sent: texts of the call that no output may repeat.
    init(_ ending: ExchangeEnding, sent: [[UInt8]]) { (self.ending, self.sent) = (ending, sent) }

    var text: String {
        let time = "after \(ending.microseconds / 1_000) ms"
        switch ending.result {
        case .failed(let failure): return "no answer \(time): \(failure)"
        case .answered(_, let answer):
            let headers = answer.headers.map { "  \($0.name): \(shown($0.value))" }
            // A body of 2xx may be a receipt.
            let hasText = !(200..<300).contains(answer.status) && !answer.body.isEmpty
            let body = hasText ? ["body: \(shown(answer.body))"] : []
            return (["status \(answer.status) \(time)"] + headers + body).joined(separator: "\n")
        }
    }

    private func shown(_ bytes: [UInt8]) -> String {
        let part = Array(bytes.prefix(Self.mostShown))
        guard !Self.repeats(part, sent) else { return "(repeats what was sent)" }
        return String(decoding: part, as: UTF8.self).oneLine + (bytes.count > part.count ? "…" : "")
    }

    /// Whether a run of the text stands in what was sent.
    static func repeats(_ text: [UInt8], _ sent: [[UInt8]]) -> Bool {
        guard text.count >= leastSecret else { return false }
        return (0...(text.count - leastSecret)).contains { start in
            let run = text[start..<start + leastSecret]
            return sent.contains { $0.firstRange(of: run) != nil }
        }
    }

    static func describe(_ outcome: CallOutcome) -> String {
        switch outcome {
        case .invalid(let reason): "\(outcome.name): the body is \(reason.rawValue)"
        case .notGenuine(let refusal): "\(outcome.name): \(refusal.code)"
        default: outcome.name
        }
    }

    /// Whether Apple has understood the call.
    static func isDone(_ outcome: CallOutcome) -> Bool {
        switch outcome {
        case .verified, .early: true
        default: false
        }
    }
}
