internal import HTTPClient
internal import Settings
package import Telemetry

/// Asks every instance for its pages, all at once.
package final class TopRounds {
    private enum Page: UInt64, CaseIterable {
        case metrics, status, readiness

        var path: String { ["/metrics", "/status", "/readyz"][Int(rawValue)] }
    }

    /// The most bytes of a page: with 50 apps and all reasons it has two million.
    private static let pageBytes = 16 << 20
    private static let answerMilliseconds = 2_000
    private static let pollMilliseconds = 100

    package private(set) var instances: [TopInstance]
    private let client: HTTPClient

    /// - Parameter addresses: `HOST:PORT` each.
    package init(_ addresses: [String]) throws {
        instances = addresses.map { TopInstance($0) }
        var options = ClientOptions()
        options.connectMilliseconds = Self.answerMilliseconds
        options.totalMilliseconds = Self.answerMilliseconds
        options.mostBodyBytes = Self.pageBytes
        do throws(ClientFailure) { client = try HTTPClient(options) } catch {
            throw CommandFault("no client can be made: \(error.description).")
        }
    }

    /// Asks once, and waits until each has answered or its time is up.
    ///
    /// - Parameter isStopped: asked ten times a second; then the round ends at once.
    package func ask(until isStopped: () -> Bool = { false }) {
        for (index, instance) in instances.enumerated() {
            for page in Page.allCases {
                let tag = UInt64(index) << 2 | page.rawValue
                client.enqueue(ClientCall(tag: tag, method: .get, url: "http://\(instance.address)\(page.path)"))
            }
        }
        var endings: [UInt64: ClientEnding.Outcome] = [:]
        while client.openCalls > 0, !isStopped() {
            for ending in client.poll(milliseconds: Self.pollMilliseconds) { endings[ending.tag] = ending.outcome }
        }
        let now = Uptime.milliseconds() ?? 0
        for index in instances.indices {
            let own = { (page: Page) in endings[UInt64(index) << 2 | page.rawValue] }
            note(own, at: now, of: &instances[index])
        }
    }

    private func note(_ ending: (Page) -> ClientEnding.Outcome?, at now: Int64, of instance: inout TopInstance) {
        switch ending(.metrics) {
        case .answered(let answer)? where answer.status == 200:
            let status = ShownStatus(
                status: Self.body(ending(.status), [200]),
                readiness: Self.body(ending(.readiness), [200, 503])
            )
            instance.note(TopInstance.Answer(metrics: Scrape(answer.body), status: status, at: now))
        case .answered(let answer)?: instance.note(fault: "/metrics has HTTP status \(answer.status)")
        case .failed(let failure)?: instance.note(fault: failure.description)
        // Stopped.
        case nil: break
        }
    }

    private static func body(_ ending: ClientEnding.Outcome?, _ statuses: Set<Int>) -> [UInt8]? {
        guard case .answered(let answer)? = ending, statuses.contains(answer.status) else { return nil }
        return answer.body
    }
}
