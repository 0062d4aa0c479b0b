package import HTTP
package import Settings

extension WorkerMonitor {
    /// How often the library describes brokers and partitions, in milliseconds: for scrapes, and for the log alone.
    private static let statisticsPause = 2_000
    private static let pauseWithoutScrapes = 5_000

    /// Serves metrics and health until the server is released.
    ///
    /// - Parameter warn: takes a line where nothing can listen: the worker works without.
    /// - Returns: nil where nothing is served.
    package func serve(_ configuration: Configuration, warn: (String) -> Void) -> HTTPServer? {
        guard let port = UInt16(exactly: configuration.metricsPort), port > 0 else { return nil }
        let endpoints = Endpoints(self)
        do throws(HTTPFault) {
            return try HTTPServer(address: configuration.metricsAddress, port: port, handler: endpoints.answer)
        } catch {
            warn("metrics and health are not served: \(error.description); change metrics in worker.json")
            return nil
        }
    }

    package func statisticsMilliseconds(_ configuration: Configuration) -> Int {
        configuration.metricsPort > 0 ? Self.statisticsPause : Self.pauseWithoutScrapes
    }

    /// A configuration is in use (``note(_:)``), or was refused (nil).
    package func note(_ reloaded: LoadedConfiguration?) {
        if let reloaded { note(reloaded) } else { noteRefusedReload() }
    }
}
