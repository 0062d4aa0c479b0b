internal import JSON

/// A metrics page as text: the series that `top` shows. Every page is foreign, and bounded by the client's limit.
package struct Scrape: Sendable {
    package typealias Labels = [String: String]

    private static let mostSeries = 50_000
    private var families: [TopFamily: [Labels: Double]] = [:]

    /// Families that are not shown, comments, and what is not a series are left out.
    package init(_ page: [UInt8]) {
        var count = 0
        for line in page.split(separator: UInt8(ascii: "\n")) where count < Self.mostSeries {
            guard let (family, labels, value) = Self.series(line) else { continue }
            families[family, default: [:]][labels] = value
            count += 1
        }
    }

    package func series(_ family: TopFamily) -> [Labels: Double] { families[family] ?? [:] }

    /// The sum of a family's series; nil where there is none.
    package func sum(_ family: TopFamily, where isMeant: (Labels) -> Bool = { _ in true }) -> Double? {
        let found = series(family).filter { isMeant($0.key) }
        return found.isEmpty ? nil : found.values.reduce(0, +)
    }

    private static func series(_ line: ArraySlice<UInt8>) -> (TopFamily, Labels, Double)? {
        guard let end = line.firstIndex(where: { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: " ") }),
            let family = TopFamily(rawValue: String(decoding: line[..<end], as: UTF8.self))
        else { return nil }
        var (rest, labels) = (line[end...], Labels())
        if rest.first == UInt8(ascii: "{") {
            rest.removeFirst()
            while let label = Self.label(&rest) { labels[label.name] = label.value }
        }
        guard rest.first == UInt8(ascii: " "), let value = Double(String(decoding: rest.dropFirst(), as: UTF8.self))
        else { return nil }
        return value.isFinite ? (family, labels, value) : nil
    }

    /// Takes `name="value",`, or the bracket behind the last one.
    private static func label(_ rest: inout ArraySlice<UInt8>) -> (name: String, value: String)? {
        if rest.first == UInt8(ascii: "}") {
            rest.removeFirst()
            return nil
        }
        guard let sign = rest.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let name = String(decoding: rest[..<sign], as: UTF8.self)
        rest = rest[(sign + 1)...].dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            guard byte == UInt8(ascii: "\\"), let next = rest.popFirst() else {
                value.append(byte)
                continue
            }
            value.append(next == UInt8(ascii: "n") ? UInt8(ascii: "\n") : next)
        }
        if rest.first == UInt8(ascii: ",") { rest.removeFirst() }
        return (name, String(decoding: value, as: UTF8.self))
    }
}

package enum TopFamily: String, CaseIterable, Sendable {
    case state = "attest_state"
    case start = "process_start_time_seconds"
    case requests = "attest_requests_total"
    case deadLetters = "attest_dead_letters_total"
    case minted = "attest_tokens_minted_total"
    case tokenUses = "attest_token_verifications_total"
    case lag = "attest_consumer_lag_records"
    case unstable = "attest_partition_unstable_records"
    case assigned = "attest_assigned_partitions"
    case lanes = "attest_lanes"
    case standbyLag = "attest_standby_lag_records"
    case copyBytes = "attest_ledger_snapshot_bytes"
    case copyTime = "attest_ledger_snapshot_timestamp_seconds"
    case calls = "attest_gateway_requests_total"
    case waiting = "attest_gateway_waiting"
    case connections = "attest_gateway_connections"
    case deadlines = "attest_gateway_deadlines_total"
    case throttle = "attest_broker_throttle_seconds_total"
    case riskLag = "attest_risk_line_lag_seconds"
    case riskCalls = "attest_risk_calls_total"
}

/// A worker's `/status`, as far as `top` shows it. Any member may be absent: another version wrote it.
package struct ShownStatus: Sendable {
    private static let mostNodes = 500_000

    package private(set) var reason: String?
    package private(set) var fault: String?
    /// What lasts and does not keep the program from working.
    package private(set) var troubles: [String] = []
    /// Partitions that are held, each with its sentence.
    package private(set) var held: [(partition: Int64, sentence: String)] = []
    /// The names of apps by their ids.
    package private(set) var names: [String: String] = [:]

    /// - Parameters:
    ///   - status: `/status`, which workers have.
    ///   - readiness: `/readyz`, which has the reason of the other programs.
    package init(status: [UInt8]?, readiness: [UInt8]? = nil) {
        let page = status ?? readiness
        guard let root = page.flatMap({ try? JSONDocument(parsing: $0, maxNodes: Self.mostNodes).root }),
            root.kind == .object
        else { return }
        reason = root["reason"]?.string
        troubles = (root["troubles"]?.elements ?? []).compactMap(\.string)
        if let last = root["lastFault"], let at = last["at"]?.string, let message = last["message"]?.string {
            fault = "\(at) \(message)"
        }
        for partition in root["partitions"]?.elements ?? [] {
            guard let number = partition["partition"]?.integer, let hold = partition["hold"]?.string else { continue }
            held.append((number, hold))
        }
        for app in root["apps"]?.elements ?? [] {
            if let id = app["app"]?.string, let name = app["name"]?.string { names[id] = name }
        }
    }
}
