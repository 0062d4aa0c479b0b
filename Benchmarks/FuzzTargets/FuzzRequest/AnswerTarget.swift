internal import AppAttest
internal import JSON
internal import Risk

/// Answers of the receipt exchange as text: a status, headers, an empty line, the body.
enum AnswerTarget {
    private static let time = EvaluationTime(milliseconds: 1_790_000_000_000)
    private static let lineFeed = UInt8(ascii: "\n")

    static func run(_ input: [UInt8]) {
        let end = zip(input.indices, input.indices.dropFirst())
            .first { input[$0] == lineFeed && input[$1] == lineFeed }
        let head = input[..<(end?.0 ?? input.endIndex)]
        let body = end.map { Array(input[($0.1 + 1)...]) } ?? []
        let lines = head.split(separator: lineFeed, omittingEmptySubsequences: false)
        let status = lines.first.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 200
        let headers = lines.dropFirst().map { line in
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            return (name: String(decoding: name, as: UTF8.self), value: Array(line.dropFirst(name.count + 1)))
        }
        check(ReceiptAnswer(status: status, headers: headers, body: body, at: time), status, body)
    }

    private static func check(_ answer: ReceiptAnswer, _ status: Int, _ body: [UInt8]) {
        precondition(answer.retryAfterMilliseconds.map { $0 >= 0 } ?? true, "nobody waits for a time before")
        precondition([nil, 16, 32].contains(answer.traceID?.count), "a trace id has 16 or 32 digits")
        switch answer.content {
        case .receipt(let receipt):
            precondition(status == 200 && !receipt.isEmpty, "an answer 200 alone has a receipt")
            precondition(body.count <= ReceiptAnswer.mostBodyBytes, "a longer body is not read")
            let text = Base64.encode(receipt).prefix { $0 != UInt8(ascii: "=") }
            precondition(body.contains(text), "a receipt is what its text says")
        case .other(let outcome): check(outcome, status)
        }
    }

    private static func check(_ outcome: CallOutcome, _ status: Int) {
        switch outcome {
        case .invalid: precondition(status == 200, "an answer 200 alone lacks a receipt")
        case .early: precondition(status == 304, "304 alone is early")
        case .absent: precondition(status == 404, "404 alone is absent")
        case .refused: precondition(status == 400, "400 alone complains")
        case .unauthorized: precondition(status == 401, "401 alone refuses a token")
        case .throttled: precondition(status == 429, "429 alone throttles")
        case .unavailable: precondition(!(200..<500).contains(status), "a status below 500 is no failure of the server")
        case .unexpected: precondition((201..<500).contains(status), "what is unexpected is a status of HTTP's")
        case .verified, .notGenuine, .timedOut, .transport: preconditionFailure("no answer by itself says so")
        }
    }

    static let seeds: [[UInt8]] = [
        "200\nContent-Type: base64\nDate: Sun, 06 Nov 2026 08:49:37 GMT\nX-B3-TraceId: 463ac35c9f6413ad\n\n"
            + "MIAGCSqGSIb3DQEHAqCAMIACAQE=\n",
        "200\n\n \r\nMIAG \n", "200\n\n<html></html>", "200\n\n_wAB", "304\n\n", "404\n\n", "401\n\n", "202\n\n",
        "400\n\nIncorrect Environment", "400\n\nBad Payload\n", "429\nRetry-After: 120\n\n",
        "503\nretry-after: Tue, 14 Nov 2026 22:13:30 GMT\nDate: Tue, 14 Nov 2026 22:13:28 GMT\n\n",
        "307\nLocation: /v1/elsewhere\n\n",
    ].map { Array($0.utf8) }
}
