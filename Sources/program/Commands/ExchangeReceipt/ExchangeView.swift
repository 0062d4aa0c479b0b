internal import HTTPClient
internal import Refresher
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
    init(_ ending: ExchangeEnding, sent: [[UInt8]]) { (self.ending, self.sent) = (ending, sent.map(Self.lowercased)) }

    var text: String {
        let time = "after \(ending.client.microseconds / 1_000) ms"
        switch ending.client.outcome {
        case .failed(let failure): return "no answer \(time): \(failure)"
        case .answered(let answer):
            let headers = answer.headers.map { "  \(shown(Array($0.name.utf8))): \(shown($0.value))" }
            // A body of 2xx may be a receipt.
            let hasText = !(200..<300).contains(answer.status) && !answer.body.isEmpty
            let body = hasText ? ["body: \(shown(answer.body))"] : []
            return (["status \(answer.status) \(time)"] + headers + body).joined(separator: "\n")
        }
    }

    private func shown(_ bytes: [UInt8]) -> String {
        let part = Array(bytes.prefix(Self.mostShown))
        // A library may write a header's name in small letters.
        let text = Self.lowercased(part)
        guard !Self.repeats(text, sent) else { return "(repeats what was sent)" }
        guard !Self.holdsToken(text) else { return "(has a token)" }
        return String(decoding: part, as: UTF8.self).oneLine + (bytes.count > part.count ? "…" : "")
    }

    private static func lowercased(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    }

    /// Whether a JWT stands in the text, which is in small letters: `eyJ` is how JSON objects begin in base64.
    private static func holdsToken(_ text: [UInt8]) -> Bool {
        let words = text.split { !"-_.0123456789abcdefghijklmnopqrstuvwxyz".utf8.contains($0) }
        return words.contains { $0.firstRange(of: Array("eyj".utf8)) != nil && $0.contains(UInt8(ascii: ".")) }
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
