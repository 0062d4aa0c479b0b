package import HTTP

/// The paths of the metrics port of a program whose state is one word: a gateway, or a refresher of receipts.
package struct StatePages: Sendable {
    /// How long the quietest of the threads that must not hang has shown no life.
    let silence: @Sendable () -> Duration
    let readiness: @Sendable () -> Readiness
    let metrics: @Sendable (Exposition.Format) -> [UInt8]

    package init(
        silence: @escaping @Sendable () -> Duration,
        readiness: @escaping @Sendable () -> Readiness,
        metrics: @escaping @Sendable (Exposition.Format) -> [UInt8]
    ) {
        (self.silence, self.readiness, self.metrics) = (silence, readiness, metrics)
    }

    package func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch request.path {
        case "/metrics":
            let format = AcceptHeader(request.accept).format
            return HTTPResponse(contentType: format.contentType, body: metrics(format))
        case "/healthz":
            let silence = silence()
            return silence < Endpoints.mostSilence
                ? HTTPResponse(status: 200, text: "ok")
                : HTTPResponse(status: 503, text: "hung: no life for \(silence.components.seconds) s")
        case "/readyz": return readiness().page
        default: return .notFound
        }
    }
}
