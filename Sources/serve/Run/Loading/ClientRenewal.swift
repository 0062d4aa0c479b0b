internal import Broker
package import CommandFrame
internal import Kafka
internal import KafkaPorts
internal import Settings
package import Telemetry

/// Notices that certificates, keys or authorities of kafka.properties were renewed: clients that are made then read them.
package struct ClientRenewal {
    private let properties: KafkaProperties
    private var files: FileWatch

    /// - Parameters:
    ///   - properties: of the program's clients, which are made after this.
    ///   - elapsed: a clock that never goes back.
    package init(
        _ properties: [(String, String)],
        elapsed: @escaping ProgressMeter.Stopwatch = ProgressMeter.stopwatch()
    ) {
        self.properties = KafkaProperties(properties)
        let paths = ClientFiles.paths(self.properties)
        files = FileWatch(paths, read: FileStamp.all(paths), isAsked: { false }, elapsed: elapsed)
    }

    /// Checks for changes: cheap, to be called several times a second. Files that no client can be made of are reported, and
    /// the clients stay as they are.
    ///
    /// - Returns: whether the clients are outdated; the caller replaces them.
    package mutating func poll(_ say: (LogEvent) -> Void) -> Bool {
        guard !files.paths.isEmpty, files.poll() else { return false }
        do throws(ConfigurationFault) {
            let properties = properties
            _ = try ConfigurationFault.explaining { () throws(KafkaFault) in try Admin(properties.withoutBrokers) }
        } catch {
            say(LogEvent(.error, .configurationRefused, "renewed files are not taken, clients stay: \(error.message)"))
            return false
        }
        ClientFiles.noteRenewal()
        say(LogEvent(.info, .configurationReloaded, "certificates were renewed: the clients are replaced"))
        return true
    }
}
