package import Foundation

/// An unpacked Apache Kafka: `KAFKA_HOME`, or `../shared/kafka` beside the checkout.
package struct KafkaInstallation: Sendable {
    package let home: URL
    package let java: URL

    /// What was found, or nil: ``whyMissing`` then says what to do.
    package static let found: KafkaInstallation? = {
        guard let java = executable("java"), let home = candidates.first(where: isKafka) else { return nil }
        return KafkaInstallation(home: home, java: java)
    }()

    package static var whyMissing: String {
        "no real Kafka: set KAFKA_HOME to an unpacked Apache Kafka and install Java 17 or newer (looked in "
            + candidates.map(\.path).joined(separator: ", ") + ")"
    }

    /// A program on the PATH.
    package static func executable(_ name: String) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// 4 of `kafka_2.13-4.3.1.jar`; nil where the name has no version.
    package var majorVersion: Int? {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: home.path + "/libs")) ?? []
        let jar = files.first { $0.hasPrefix("kafka_2") && $0.hasSuffix(".jar") }
        return jar?.split(separator: "-").dropFirst().first?.split(separator: ".").first.flatMap { Int($0) }
    }

    private static var candidates: [URL] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let beside = root.deletingLastPathComponent().appendingPathComponent("shared/kafka")
        guard let home = ProcessInfo.processInfo.environment["KAFKA_HOME"] else { return [beside] }
        return [URL(fileURLWithPath: home)]
    }

    private static func isKafka(_ home: URL) -> Bool {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: home.path + "/libs")) ?? []
        return files.contains { $0.hasPrefix("kafka_2") && $0.hasSuffix(".jar") }
    }
}

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
