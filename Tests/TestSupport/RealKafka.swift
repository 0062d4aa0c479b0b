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

/// A one-broker Kafka (KRaft) in a temporary folder, on loopback ports that were free.
///
/// A shell keeps it: when its standard input ends, because ``stop()`` closed it or because this process died, it stops
/// the broker and deletes the folder. So nothing is left behind however a test run ends.
package final class RealKafka: @unchecked Sendable {
    package struct StartFault: Error, CustomStringConvertible {
        package let description: String
    }

    package let bootstrapServers: String
    package let folder: URL
    private let port: UInt16
    // Used by the thread that starts and stops the broker only.
    private let keeper = Process()
    private let leash = Pipe()

    package init(_ installation: KafkaInstallation, seconds: Int = 60) throws {
        let controllerPort = try Self.freePort()
        port = try Self.freePort()
        bootstrapServers = "127.0.0.1:\(port)"
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("kafka-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let properties = Self.properties(port: port, controllerPort: controllerPort, folder: folder)
        try Data(properties.utf8).write(to: folder.appendingPathComponent("server.properties"))
        keeper.executableURL = URL(fileURLWithPath: "/bin/sh")
        keeper.arguments = ["-c", Self.script, "sh", folder.path, installation.java.path, installation.home.path]
        keeper.standardInput = leash
        try keeper.run()
        try waitUntilListening(seconds: seconds)
    }

    private func waitUntilListening(seconds: Int) throws {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !Self.accepts(port: port) {
            let ended = FileManager.default.fileExists(atPath: folder.path + "/ended")
            guard keeper.isRunning, !ended, ContinuousClock.now < deadline else {
                let log = (try? String(contentsOf: folder.appendingPathComponent("broker.log"), encoding: .utf8)) ?? ""
                stop()
                throw StartFault(description: "Kafka did not start: \(log.suffix(2000))")
            }
            usleep(100_000)
        }
    }

    /// Stops the broker's clock: connections stay open and nobody answers, until ``resume()``.
    package func pause() throws { try tell("pause") }

    package func resume() throws { try tell("resume") }

    /// Ends the broker as a power cut would. Ports and data stay its own, until ``restart(seconds:)``.
    package func kill() throws {
        try tell("kill")
        while !FileManager.default.fileExists(atPath: folder.path + "/ended") { usleep(20_000) }
    }

    /// Starts a killed broker again, on the same ports and data.
    package func restart(seconds: Int = 60) throws {
        try FileManager.default.removeItem(atPath: folder.path + "/ended")
        try tell("start")
        try waitUntilListening(seconds: seconds)
    }

    private func tell(_ word: String) throws {
        try leash.fileHandleForWriting.write(contentsOf: Data((word + "\n").utf8))
    }

    deinit {
        stop()
    }

    /// Stops the broker and deletes its folder.
    package func stop() {
        guard keeper.isRunning else { return }
        try? leash.fileHandleForWriting.close()
        keeper.waitUntilExit()
    }

    private static let script = """
        folder=$1; java=$2; home=$3
        kafka() { "$java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.awt.headless=true -cp "$home/libs/*" "$@"; }
        options=-Dlog4j2.disable.jmx=true
        if [ -f "$home/log4j2.properties" ]; then options=-Dlog4j2.configurationFile=$home/log4j2.properties; fi
        cd "$folder" || exit 1
        export KAFKA_LOG="$folder"
        id=$(head -c 16 /dev/urandom | base64 | tr '+/' 'ab' | cut -c 1-22)
        kafka -Xmx128m "$options" kafka.tools.StorageTool format -t "$id" -c server.properties \
          >broker.log 2>&1 </dev/null || exit 1
        start() {
          (
            "$java" -XX:+UseSerialGC -Djava.awt.headless=true -Xms96m -Xmx320m "$options" -cp "$home/libs/*" \
              kafka.Kafka server.properties >>broker.log 2>&1 </dev/null &
            echo $! >pid
            wait $!
            touch ended
          ) </dev/null >/dev/null 2>&1 &
        }
        start
        while read -r word; do
          case $word in
            pause) kill -STOP "$(cat pid)" ;;
            resume) kill -CONT "$(cat pid)" ;;
            kill) kill -KILL "$(cat pid)" ;;
            start) start ;;
          esac
        done
        kill -KILL "$(cat pid)" 2>/dev/null
        wait
        cd / && rm -rf "$folder"
        """

    private static func properties(port: UInt16, controllerPort: UInt16, folder: URL) -> String {
        """
        process.roles=broker,controller
        node.id=1
        controller.quorum.voters=1@127.0.0.1:\(controllerPort)
        listeners=PLAINTEXT://127.0.0.1:\(port),CONTROLLER://127.0.0.1:\(controllerPort)
        advertised.listeners=PLAINTEXT://127.0.0.1:\(port)
        listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
        controller.listener.names=CONTROLLER
        inter.broker.listener.name=PLAINTEXT
        log.dirs=\(folder.path)/data
        auto.create.topics.enable=false
        offsets.topic.replication.factor=1
        offsets.topic.num.partitions=3
        transaction.state.log.replication.factor=1
        transaction.state.log.min.isr=1
        transaction.state.log.num.partitions=3
        share.coordinator.state.topic.replication.factor=1
        share.coordinator.state.topic.min.isr=1
        broker.session.timeout.ms=2000
        broker.heartbeat.interval.ms=500
        group.initial.rebalance.delay.ms=0
        group.min.session.timeout.ms=1000
        num.network.threads=2
        num.io.threads=2
        log.cleaner.dedupe.buffer.size=16777216
        transaction.abort.timed.out.transaction.cleanup.interval.ms=1000

        """
    }
}
