internal import Foundation
internal import HTTP

/// One client, what it sends in which pieces, and what it may get.
package struct HostileVisit {
    package enum Ending: Equatable {
        /// Ends its side once it has the answers to all that is sound.
        case patient
        case halfClose, hold, abort
    }

    package let source: [UInt8]
    package let bytes: [UInt8]
    package let answering: HostileWorld.Answering
    package let ending: Ending
    /// Where its writes end.
    package let cuts: [Int]
    let expected: [StrictReader.Request]

    package init(
        _ source: [UInt8],
        _ bytes: [UInt8],
        _ answering: HostileWorld.Answering,
        _ ending: Ending,
        cuts: [Int] = []
    ) {
        (self.source, self.bytes, self.answering, self.ending) = (source, bytes, answering, ending)
        self.cuts = (cuts + [0, bytes.count]).sorted()
        expected = StrictReader.requests(in: bytes)
    }

    /// The library hides a zero before a line feed, and reads a line of one colon or one zero as the blank line: where the
    /// ends of that line and of the one before are three bytes, they are as long as the ends of a blank line and the one
    /// before.
    package var isHidden: Bool {
        bytes.indices.dropFirst().contains { place in
            if bytes[place] == 0x0a, bytes[place - 1] == 0 { return true }
            let isShort = bytes[place] == UInt8(ascii: ":") || bytes[place] == 0
            guard isShort, Self.isEnd(bytes[place - 1]) else { return false }
            let before = bytes[..<place].suffix(2).elementsEqual([0x0d, 0x0a]) ? 2 : 1
            let behind = bytes[(place + 1)...].prefix(2)
            let after = behind.elementsEqual([0x0d, 0x0a]) ? 2 : behind.first.map(Self.isEnd) == true ? 1 : 0
            return before + after == 3
        }
    }

    private static func isEnd(_ byte: UInt8) -> Bool { byte == 0x0a || byte == 0x0d }

    package var text: String {
        let shown = bytes.prefix(700)
        let request = String(decoding: shown, as: UTF8.self).debugDescription
        return
            "\(request)\(shown.count < bytes.count ? "…" : ""), \(ending), answered by \(answering), written at \(cuts)"
    }

    // MARK: Judgement

    /// What came of a visit.
    package struct Outcome {
        /// The requests that the handler saw.
        package let seen: Int
        /// The status of the server's own answer behind the others; nil = none.
        package let refusal: Int?
        /// What can never be a slow machine's fault; nil = nothing.
        package let crime: String?
        /// What a slow machine, too, might make: it counts only where it happens again.
        package let doubt: String?
    }

    /// What the handler saw of a client that has gone.
    package func outcome(_ world: HostileWorld) -> Outcome {
        let seen = world.calls(from: source)
        return Outcome(seen: seen.count, refusal: nil, crime: isHidden ? nil : crime(seen: seen, nil), doubt: nil)
    }

    /// Reads to the connection's end, once all is written.
    ///
    /// - Parameter isStopping: whether the server may answer open calls by itself.
    package func outcome(_ world: HostileWorld, _ client: HostileClient, isStopping: Bool = false) -> Outcome {
        var (bytes, end): ([UInt8], HostileClient.End?) = ([], nil)
        if ending == .patient {
            let methods = isHidden ? [] : expected.map(\.method)
            (bytes, end) = client.read { AnswerStream($0, methods: methods).answers.count == methods.count }
            client.finishWriting()
        }
        if end == nil {
            let last = client.read()
            (bytes, end) = (bytes + last.bytes, last.end)
        }
        // The server calls its handler before it ends the connection, on one thread.
        let seen = world.calls(from: source)
        let answers = AnswerStream(bytes, methods: seen.map(\.method))
        let isOpen = end == .silent ? "the connection does not end" : nil
        return Outcome(
            seen: seen.count,
            refusal: answers.refusal,
            crime: isHidden ? nil : crime(seen: seen, isStopping ? nil : answers),
            doubt: isHidden ? isOpen : isOpen ?? doubt(seen: seen, answers, end)
        )
    }

    func crime(seen: [HTTPCall], _ answers: AnswerStream?) -> String? {
        for (index, call) in seen.enumerated() {
            guard index < expected.count else {
                return "the handler sees request \(index), the strict reader refuses it"
            }
            let request = expected[index]
            guard call.method == request.method, call.target == request.target, call.headers == request.headers,
                call.body == request.body
            else { return "request \(index) reaches the handler changed" }
            guard call.peer.bytes == source else { return "request \(index) has another's address" }
        }
        for (index, answer) in (answers?.answers ?? []).enumerated() {
            let isDropped = answering == .dropped || answering == .droppedLater
            let isRight =
                isDropped
                ? answer.status == 500 && answer.mark == nil
                : answer.mark == HostileWorld.mark(source, index) && answer.status != 500
            guard isRight else { return "answer \(index) is \(answer)" }
        }
        return nil
    }

    private func doubt(seen: [HTTPCall], _ answers: AnswerStream, _ end: HostileClient.End?) -> String? {
        if end == .reset { return nil }
        // A client that has ended its side may lose an answer that comes later, as one that has left would.
        if ending == .halfClose, end == .closed, answers.rest.isEmpty, answers.answers.count < seen.count { return nil }
        guard answers.answers.count == seen.count else {
            return
                "\(seen.count) requests, \(answers.answers.count) answers, left \(String(decoding: answers.rest.prefix(300), as: UTF8.self).debugDescription)"
        }
        let heads = String(decoding: answers.rest, as: UTF8.self).components(separatedBy: "HTTP/1.1 ").count - 1
        if !answers.rest.isEmpty, heads != 1 || answers.refusal.map({ (400...505).contains($0) }) != true {
            return
                "bytes behind the answers: \(String(decoding: answers.rest.prefix(80), as: UTF8.self).debugDescription)"
        }
        // Beyond the limit no room may be left even for a refusal.
        guard seen.count < expected.count, expected[seen.count].memory <= HostileWorld.limits.headerBytes
        else { return nil }
        if let refusal = answers.refusal {
            // Longer than the server's memory for a connection.
            return [413, 414, 431].contains(refusal) ? nil : "a sound request is refused with \(refusal)"
        }
        return answers.answers.last?.closes == true ? nil : "\(seen.count) of \(expected.count) requests are served"
    }
}
