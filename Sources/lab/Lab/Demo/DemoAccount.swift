internal import CommandFrame
internal import Pipeline
internal import Settings
internal import Streams
internal import Traffic

/// The account of a demo: the input, the output, and whether each outcome is the expected one.
struct DemoAccount {
    let traffic: DemoTraffic
    let outputs: [DemoOutput]
    let tally: LoopTally
    let partitions: Int32

    /// - Returns: the exit code: 0 when every record has exactly its expected outcome.
    func print(on console: Console) -> Int32 {
        let found = matched
        console.print("\nRecords sent, and their outcomes:\n\(table(found).text)\n")
        func sample(_ title: String, where matches: (DemoTraffic.Item) -> Bool) {
            guard let text = found.first(where: { matches($0.item) })?.output?.text else { return }
            console.print("\(title):\n  \(text)")
        }
        sample("An accepted attestation") { $0.kind == "honest attestation" }
        sample("An accepted assertion") { $0.kind == "honest assertion" }
        sample("A refusal") { $0.expected == "nonce-mismatch" || $0.expected == "signature-invalid" }
        sample("A dead letter") { $0.expected == "[not-json]" }
        return verdict(found, console)
    }

    /// Each item with its output: the broker keeps the order of each partition, so the items' places are its own.
    private var matched: [(item: DemoTraffic.Item, output: DemoOutput?)] {
        let byPlace = Dictionary(outputs.map { ($0.place, $0) }, uniquingKeysWith: { first, _ in first })
        return traffic.items.map { ($0, byPlace[RecordPlace($0.record)]) }
    }

    private func table(_ found: [(item: DemoTraffic.Item, output: DemoOutput?)]) -> TextTable {
        var counts: [String: [String: Int]] = [:]
        for (item, output) in found {
            let kind = item.kind.split(separator: ":")[0]
            counts[String(kind), default: [:]][output?.outcome ?? "no outcome", default: 0] += 1
        }
        var table = TextTable([.left, .left, .right])
        table.add("sent", "outcome", "records")
        let rows = counts.flatMap { kind, outcomes in outcomes.map { (kind: kind, outcome: $0.key, count: $0.value) } }
        for row in rows.sorted(by: { ($1.count, $0.kind, $0.outcome) < ($0.count, $1.kind, $1.outcome) }) {
            table.add(row.kind, Self.describe(row.outcome), row.count.grouped)
        }
        return table
    }

    private static func describe(_ outcome: String) -> String {
        if outcome == "accepted" { return outcome }
        guard outcome.hasPrefix("[") else { return "refused: \(outcome)" }
        return "dead letter: \(outcome.dropFirst().dropLast())"
    }

    private func verdict(_ found: [(item: DemoTraffic.Item, output: DemoOutput?)], _ console: Console) -> Int32 {
        let wrong = found.filter { $0.output?.outcome != $0.item.expected }
        let read = found.count { $0.output != nil }
        console.print(
            "\n\(traffic.items.count.counted("record")) sent, \(read) outcomes read back from the results and dead letters; "
                + "\(tally.batches) commits"
        )
        for (item, output) in wrong.prefix(5) {
            console.print("UNEXPECTED: \(item.kind): \(output?.outcome ?? "no outcome") instead of \(item.expected)")
        }
        if wrong.isEmpty { console.print("Every record has its expected outcome.") }
        return wrong.isEmpty && read == traffic.items.count ? ExitCode.done : ExitCode.failed
    }
}
