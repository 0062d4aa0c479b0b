package import Foundation

/// A cluster of one broker; see ``RealCluster``.
package final class RealKafka: Sendable {
    private let cluster: RealCluster

    package var bootstrapServers: String { cluster.bootstrapServers }
    package var folder: URL { cluster.folder }

    package init(_ installation: KafkaInstallation, seconds: Int = 60) throws {
        cluster = try RealCluster(installation, seconds: seconds)
    }

    /// Stops the broker's clock: connections stay open without an answer, until ``resume()``.
    package func pause() throws { try cluster.pause() }

    package func resume() throws { try cluster.resume() }

    /// Ends the broker as a power cut would. Ports and data stay its own, until ``restart(seconds:)``.
    package func kill() throws { try cluster.kill() }

    /// Starts a killed broker again, on the same ports and data.
    package func restart(seconds: Int = 60) throws { try cluster.start(seconds: seconds) }

    /// Gives topics more partitions.
    package func addPartitions(_ count: Int32, to topics: [String]) throws {
        try cluster.addPartitions(count, to: topics)
    }

    package func deleteTopic(_ name: String) throws { try cluster.deleteTopic(name) }

    /// Runs one of Kafka's own tools to its end. - Returns: what it printed.
    @discardableResult
    package func tool(_ className: String, _ arguments: [String]) throws -> String {
        try cluster.tool(className, arguments)
    }

    /// Stops the broker and deletes its folder.
    package func stop() { cluster.stop() }
}
