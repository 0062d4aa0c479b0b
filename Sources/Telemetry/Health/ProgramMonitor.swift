package import HTTP
package import Settings

/// What a program shows of itself on a port of its own.
package protocol ProgramMonitor: Sendable {
    /// How long the quietest of the threads that must not hang has shown no life.
    var silence: Duration { get }
    /// The answers of the port's paths.
    var pages: HTTPServer.Handler { get }
    /// The port, and the setting of worker.json that names it.
    func port(in configuration: Configuration) -> (number: Int, setting: String)
}

extension ProgramMonitor {
    /// Serves metrics and health until the server is released.
    ///
    /// - Parameter warn: takes a line where nothing can listen: the program works without.
    /// - Returns: nil where nothing is served.
    package func serve(_ configuration: Configuration, warn: (String) -> Void) -> HTTPServer? {
        let (number, setting) = port(in: configuration)
        guard let port = UInt16(exactly: number), port > 0 else { return nil }
        do throws(HTTPFault) {
            return try HTTPServer(address: configuration.metricsAddress, port: port, handler: pages)
        } catch {
            warn("metrics and health are not served: \(error.description); change \(setting) in worker.json")
            return nil
        }
    }
}
