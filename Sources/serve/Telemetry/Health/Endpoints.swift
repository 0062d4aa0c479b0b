internal import HTTP
internal import JSON
internal import Pipeline
internal import Threads

/// The paths that a worker serves.
package final class Endpoints: Sendable {
    /// A loop that has shown no life for so long hangs.
    package static let mostSilence = Duration.seconds(60)
    /// Two scrapes within this time get the same text: what they show changes ten times a second.
    private static let freshness = Duration.milliseconds(100)

    private struct Page {
        let format: Exposition.Format
        let made: SuspendingClock.Instant
        let body: [UInt8]
    }

    private let monitor: WorkerMonitor
    private let pages = Locked<[Page]>([])

    init(_ monitor: WorkerMonitor) { self.monitor = monitor }

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch request.path {
        case "/metrics": metrics(AcceptHeader(request.accept).format)
        case "/healthz": health
        case "/readyz": monitor.readiness.page
        case "/status": .json(200, StatusReport.write(monitor, monitor.snapshot()))
        case "/version": .json(200, version)
        default: .notFound
        }
    }

    private func metrics(_ format: Exposition.Format) -> HTTPResponse {
        let now = SuspendingClock.now
        let kept = pages.withLock { pages in
            pages.removeAll { now - $0.made >= Self.freshness }
            return pages.first { $0.format == format }
        }
        if let kept { return HTTPResponse(contentType: format.contentType, body: kept.body) }
        let body = MetricsPage.write(monitor.snapshot(), format)
        pages.withLock { $0.append(Page(format: format, made: now, body: body)) }
        return HTTPResponse(contentType: format.contentType, body: body)
    }

    private var health: HTTPResponse {
        let silence = monitor.silence
        let isAlive = silence < Self.mostSilence
        var json = JSONWriter()
        json.beginObject()
        json.member("status", isAlive ? "ok" : "hung")
        json.member("silentSeconds", silence.components.seconds)
        json.endObject()
        return .json(isAlive ? 200 : 503, json.takeBytes())
    }

    private var version: [UInt8] {
        let build = monitor.snapshot().build
        var json = JSONWriter()
        json.beginObject()
        json.member("version", build.version)
        json.member("librdkafka", build.librdkafka)
        json.member("openssl", build.openSSL)
        json.member("engine", build.engine)
        json.endObject()
        return json.takeBytes()
    }
}

/// `/readyz` of each program: the state, why it is not ready, and what else is wrong.
struct Readiness {
    let state: WorkerState
    let reason: String?
    let troubles: [String]

    var page: HTTPResponse {
        var json = JSONWriter()
        json.beginObject()
        json.member("state", state.rawValue)
        if let reason { json.member("reason", reason) }
        if !troubles.isEmpty { json.list("troubles", of: troubles) { $0.string($1) } }
        json.endObject()
        return .json(state == .running ? 200 : 503, json.takeBytes())
    }
}

extension JSONWriter {
    mutating func list<Element>(
        _ name: StaticString,
        of elements: [Element],
        _ write: (inout JSONWriter, Element) -> Void
    ) {
        key(name)
        beginArray()
        for element in elements { write(&self, element) }
        endArray()
    }
}

extension HTTPResponse {
    fileprivate static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "application/json", body: body + [0x0A])
    }
}
