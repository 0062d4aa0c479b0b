internal import CommandFrame
internal import Reports
internal import Settings

/// The metrics of each app as a terminal of 80 columns shows them.
extension RiskReport: EventsReport {
    private static let barWidth = 32

    package var text: String {
        let sections = sections
        guard !sections.isEmpty else { return "No event tells a risk metric." }
        return sections.map { section in
            ([section.label.printable, Self.summary(of: section)] + Self.tables(of: section)).joined(separator: "\n")
        }
        .joined(separator: "\n\n")
    }

    private static func summary(of section: Section) -> String {
        let (now, before) = (section.now, section.before)
        let then = before.total > 0 ? "\(before.share) a week before" : "none known a week before"
        return
            "\(now.total.counted("key")), \(now.above.grouped) above \(section.limit): \(now.share), \(then)"
    }

    private static func tables(of section: Section) -> [String] {
        guard section.now.total > 0 else { return [] }
        var counts = TextTable([.left, .right, .right])
        counts.add("metric", "keys", "a week before")
        let most = max(1, section.now.counts.max() ?? 1)
        for (row, name) in RiskDistribution.names.enumerated() {
            let (count, earlier) = (section.now.counts[row], section.before.counts[row])
            guard count + earlier > 0 else { continue }
            // A key shows, however many others there are.
            let length = count == 0 ? 0 : max(1, count * barWidth / most)
            counts.add(name, count.grouped, earlier.grouped, String(repeating: "#", count: length))
        }
        var devices = TextTable([.left, .right, .right])
        devices.add("highest key", "metric", "a week before", "since")
        for high in section.highest {
            devices.add(high.name, high.metric.grouped, high.before.map { Int($0).grouped } ?? "-", high.time)
        }
        return ["", counts.text, "", devices.text, "", "attest-worker key HASH shows one of them, with its key ID."]
    }
}
