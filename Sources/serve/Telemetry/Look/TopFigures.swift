internal import Settings

/// What the instances' answers say together.
package struct TopFigures {
    private let instances: [TopInstance]
    private let names: [String: String]
    private let time: Int64

    /// - Parameter time: milliseconds since 1970.
    package init(_ instances: [TopInstance], at time: Int64) {
        (self.instances, self.time) = (instances, time)
        names = instances.reduce(into: [:]) { names, instance in
            names.merge(instance.now?.status.names ?? [:]) { first, _ in first }
        }
    }

    // MARK: What is wrong

    /// A sentence for each problem, with the command that fixes it where there is one.
    package var troubles: [String] {
        let silent = instances.compactMap { one in one.fault.map { "\(one.address) does not answer: \($0)" } }
        let held = instances.flatMap { one in
            (one.now?.status.held ?? []).map { "\(one.address): partition \($0.partition) is held: \($0.sentence)" }
        }
        return silent + held + instances.flatMap(waits) + instances.flatMap(lasting)
            + instances.flatMap(openTransactions)
    }

    private func waits(_ one: TopInstance) -> [String] {
        guard one.now != nil, one.state != "running" else { return [] }
        let reason = one.now?.status.reason.map { ": \($0)" } ?? ""
        return ["\(one.address) is \(one.state.replacing("_", with: " "))\(reason)"]
    }

    private func lasting(_ one: TopInstance) -> [String] {
        let throttles = (one.now?.metrics.series(.throttle) ?? [:]).keys.filter { one.rate(.throttle, of: $0) ?? 0 > 0 }
        let brokers = throttles.compactMap { $0["broker"] }.sorted()
        let status = one.now?.status
        return (status?.troubles ?? []).filter { $0 != status?.reason }.map { "\(one.address): \($0)" }
            + brokers.map { "\(one.address): \($0) holds back answers, since a client exceeds its quota" }
    }

    private func openTransactions(_ one: TopInstance) -> [String] {
        guard let unstable = one.sum(.unstable), unstable > 0 else { return [] }
        return ["\(one.address): open transactions of producers hold back \(Int(clamping: unstable).counted("record"))"]
    }

    /// The last fault that each worker tells, over or not.
    package var lastFaults: [String] {
        instances.compactMap { one in one.now?.status.fault.map { "last fault of \(one.address): \($0)" } }
    }

    // MARK: Tables

    package var workers: TopTable {
        table(.worker, ["worker", "state", "req/s", "refused", "lag", "open", "parts", "lanes"]) { one in
            let refused = one.rate(.requests) { $0["verdict"] != "accepted" }
            return [Self.text(one.rate(.requests)), Self.text(refused)]
                + [TopFamily.lag, .unstable, .assigned, .lanes].map { Self.whole(one.sum($0)) }
        }
    }

    /// How many ledgers a worker follows and how far it is behind, then the copies that it keeps of its own ones.
    package var ledgers: TopTable {
        let found = instances.filter { $0.sum(.copyBytes) != nil || $0.sum(.standbyLag) != nil }
        let rows = found.map { one in
            let followed = one.sum(.standbyLag).flatMap { _ in one.now?.metrics.series(.standbyLag).count }
            let standby = [followed.map(String.init) ?? "-", Self.whole(one.sum(.standbyLag))]
            return [one.address] + standby + [Self.text(one.sum(.copyBytes).map { $0 / 1_048_576 }), oldestCopy(one)]
        }
        return TopTable(header: ["ledgers of", "standby", "behind", "copies MiB", "oldest copy"], names: 1, rows: rows)
    }

    /// The age of the oldest copy, by the clock of this machine.
    private func oldestCopy(_ one: TopInstance) -> String {
        guard let made = one.now?.metrics.series(.copyTime).values.min() else { return "-" }
        let seconds = max(0, time / 1000 - max(0, Int64(Int(clamping: made))))
        let (unit, name): (Int64, String) = seconds < 120 ? (1, "s") : seconds < 7200 ? (60, "min") : (3600, "h")
        return "\(seconds / unit) \(name)"
    }

    package var gateways: TopTable {
        table(.gateway, ["gateway", "state", "calls/s", "5xx/s", "waiting", "connected", "late"]) { one in
            let failed = one.rate(.calls) { $0["code"]?.first == "5" }
            return [Self.text(one.rate(.calls)), Self.text(failed)]
                + [TopFamily.waiting, .connections, .deadlines].map { Self.whole(one.sum($0)) }
        }
    }

    package var refreshers: TopTable {
        table(.refresher, ["refresher", "state", "calls/s", "behind by s"]) { one in
            [Self.text(one.rate(.riskCalls)), Self.whole(one.sum(.riskLag))]
        }
    }

    /// The instances of a kind: address, state and figures.
    private func table(
        _ kind: TopInstance.Kind,
        _ header: [String],
        _ figures: (TopInstance) -> [String]
    ) -> TopTable {
        let found = instances.filter { $0.kind == kind }
        return TopTable(header: header, names: 2, rows: found.map { [$0.address, $0.state] + figures($0) })
    }

    package var requests: TopTable { counted(.requests, ["app", "verb", "verdict", "reason"]) }

    package var tokens: TopTable {
        let (minted, used) = (counted(.minted, ["app", "kind", "algorithm"]), counted(.tokenUses, ["app", "outcome"]))
        let rows: [[String]] = minted.rows + used.rows.map { [$0[0], "verified", $0[1]] + $0.dropFirst(2) }
        return TopTable(header: ["app", "tokens", "", "/s", "in all"], names: 3, rows: rows)
    }

    package var partitions: TopTable {
        let found = instances.flatMap { one in
            (one.now?.metrics.series(.lag) ?? [:]).map { labels, lag in
                (number: labels["partition"] ?? "?", one.address, lag, one.now?.metrics.series(.unstable)[labels] ?? 0)
            }
        }
        // Those that are behind; the others are of no interest.
        let behind = found.filter { $0.2 > 0 || $0.3 > 0 }.sorted { ($0.2, $1.0) > ($1.2, $0.0) }
        let rows = behind.map { [$0.0, $0.1, Self.whole($0.2), Self.whole($0.3)] }
        return TopTable(header: ["partition", "worker", "lag", "open"], names: 2, rows: rows)
    }

    /// A counter by its labels over all instances: the fastest first, of equals the largest.
    private func counted(_ family: TopFamily, _ labels: [String]) -> TopTable {
        var counts: [[String]: (rate: Double?, total: Double)] = [:]
        for one in instances {
            for (series, total) in one.now?.metrics.series(family) ?? [:] where total > 0 {
                let cells = labels.map { series[$0] ?? "" }
                let (known, rate) = (counts[cells], one.rate(family, of: series))
                let sum = known?.rate.map { $0 + (rate ?? 0) } ?? rate
                counts[cells] = (sum, (known?.total ?? 0) + total)
            }
        }
        let order = counts.sorted { left, right in
            let (one, two) = (left.value, right.value)
            if one.rate != two.rate { return one.rate ?? 0 > two.rate ?? 0 }
            return one.total == two.total ? left.key.lexicographicallyPrecedes(right.key) : one.total > two.total
        }
        let rows: [[String]] = order.map { cells, count in
            let app = names[cells[0]] ?? cells[0]
            return [app] + cells.dropFirst() + [Self.text(count.rate), Self.whole(count.total)]
        }
        return TopTable(header: labels + ["/s", "in all"], names: labels.count, rows: rows)
    }

    /// A rate: one decimal below ten; `-` where it is not known yet.
    private static func text(_ rate: Double?) -> String {
        guard let rate else { return "-" }
        guard rate < 9.95 else { return whole(rate) }
        let tenths = Int((rate * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }

    private static func whole(_ number: Double?) -> String { number.map { Int(clamping: $0).grouped } ?? "-" }
}

/// Rows of cells, the most important first; the columns behind the names are figures.
package struct TopTable {
    package let header: [String]
    package let names: Int
    package let rows: [[String]]
}

extension Int {
    /// The nearest whole number; of what is beyond all of them the last.
    init(clamping number: Double) { self = Int(exactly: number.rounded()) ?? (number < 0 ? .min : .max) }
}
