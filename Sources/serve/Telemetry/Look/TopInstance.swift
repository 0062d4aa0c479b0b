/// One instance as of its last answers: a worker, a gateway or a refresher.
package struct TopInstance: Sendable {
    /// What it answered at one moment.
    package struct Answer: Sendable {
        let metrics: Scrape
        let status: ShownStatus
        /// Milliseconds of a clock that never goes back.
        let at: Int64

        package init(metrics: Scrape, status: ShownStatus, at: Int64) {
            (self.metrics, self.status, self.at) = (metrics, status, at)
        }
    }

    enum Kind { case worker, gateway, refresher }

    /// The address as the user named it.
    package let address: String
    /// Why it did not answer last; nil = it did.
    package private(set) var fault: String?
    package private(set) var now: Answer?
    /// The process's answers of the last seconds, the oldest first: a worker counts when it commits, once in some seconds.
    private var past: [Answer] = []
    private var before: Answer? { past.first }
    private static let window: Int64 = 5_000

    package init(_ address: String) { self.address = address }

    package mutating func note(_ answer: Answer) {
        if let now {
            past.removeAll { $0.at < answer.at - Self.window }
            past.append(now)
        }
        past.removeAll { $0.metrics.sum(.start) != answer.metrics.sum(.start) || $0.at >= answer.at }
        (now, fault) = (answer, nil)
    }

    /// Old figures are not shown as if they were today's.
    package mutating func note(fault: String) { (past, now, self.fault) = ([], nil, fault) }

    /// nil = not known before it answers.
    var kind: Kind? {
        guard let metrics = now?.metrics else { return nil }
        if metrics.sum(.riskLag) != nil { return .refresher }
        return metrics.sum(.deadLetters) == nil ? .gateway : .worker
    }

    var state: String { now?.metrics.series(.state).first { $0.value == 1 }?.key["state"] ?? "?" }

    func sum(_ family: TopFamily) -> Double? { now?.metrics.sum(family) }

    /// A counter's increase per second; nil before the second scrape, and after a restart of the process.
    func rate(_ family: TopFamily, where isMeant: (Scrape.Labels) -> Bool = { _ in true }) -> Double? {
        guard let now, before != nil else { return nil }
        return now.metrics.series(family).keys.filter(isMeant).reduce(0) { $0 + (rate(family, of: $1) ?? 0) }
    }

    /// The same of one series.
    func rate(_ family: TopFamily, of labels: Scrape.Labels) -> Double? {
        guard let now, let before, let count = now.metrics.series(family)[labels] else { return nil }
        let gain = count - (before.metrics.series(family)[labels] ?? 0)
        return gain < 0 ? nil : gain * 1000 / Double(now.at - before.at)
    }
}
