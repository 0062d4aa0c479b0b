internal import CommandFrame
internal import HTTPClient
internal import Settings
package import Traffic

/// The stock clients' account of a gateway.
package struct LinkAccount {
    /// The latencies by verb.
    private(set) var latencies: [String: LatencyTally] = [:]
    /// The answers by HTTP's code.
    package private(set) var statuses: [Int: Int] = [:]
    /// Calls without an answer, by the cause.
    package private(set) var failures: [String: Int] = [:]
    package private(set) var crossings = CrossingWatch()
    /// The first accepted assertion with its answer.
    private(set) var sample: (call: StockMember.Call, answer: ClientAnswer)?
    /// The connections made in all.
    var connections = 0

    mutating func note(
        _ call: StockMember.Call,
        _ answer: ClientAnswer,
        requestID: [UInt8]?,
        _ microseconds: Int64
    ) {
        latencies[call.verb, default: LatencyTally()].add(microseconds: microseconds)
        statuses[answer.status, default: 0] += 1
        guard answer.status == 200 else { return }
        crossings.note(call, body: answer.body, requestID: requestID)
        if sample == nil, call.verb == "exchangeAppAttestAssertion" { sample = (call, answer) }
    }

    mutating func note(_ failure: ClientFailure) { failures[failure.description, default: 0] += 1 }

    mutating func noteForgotten() { failures["no answer within 60 s", default: 0] += 1 }

    /// Calls of a verb that were answered.
    func count(of verb: String) -> Int { latencies[verb]?.count ?? 0 }

    package var lines: [String] {
        var table = TextTable([.left, .right, .right, .right, .right])
        table.add("answered", "calls", "median ms", "p99 ms", "max ms")
        for (verb, tally) in latencies.sorted(by: { $0.key < $1.key }) {
            let times = [tally.quantile(0.5), tally.quantile(0.99), tally.longest].map(Self.milliseconds)
            table.add([verb, tally.count.grouped] + times)
        }
        let codes = statuses.sorted { $0.key < $1.key }.map { "\($0.value.grouped) with \($0.key)" }
        var lines = [table.text, "answers: " + (codes.isEmpty ? "none" : codes.joined(separator: ", "))]
        if !failures.isEmpty {
            let causes = failures.sorted { $0.key < $1.key }.map { "\($0.value.grouped) (\($0.key))" }
            lines.append("calls without an answer: " + causes.joined(separator: ", "))
        }
        let crossed = crossings.crossings
        let account = crossed == 0 ? "no response" : crossed.counted("response")
        return lines + ["\(connections.counted("connection")); \(account) went to another caller"]
    }

    static func milliseconds(_ microseconds: Int64) -> String {
        let tenths = (microseconds + 50) / 100
        return "\(Int(tenths / 10).grouped).\(tenths % 10)"
    }
}
