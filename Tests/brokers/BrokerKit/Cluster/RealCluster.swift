package import Foundation
internal import TestKit

/// A cluster's settings that differ from the default.
package struct ClusterSettings: Sendable {
    /// 1 or 3; with three every topic has three replicas, of which two must have a record.
    package var brokers = 1
    /// Broker properties that count before the cluster's own.
    package var properties: [(name: String, value: String)] = []
    /// Users of the SASL listener (SCRAM-SHA-256 and PLAIN). With users there are access rules: clients without a
    /// name, on the plain listener, may do everything, and users what ``RealCluster/add(_:)`` allows.
    package var users: [ClusterUser] = []
    /// Adds the listeners of ``ClusterTLS``.
    package var hasTLS = false
    /// Puts the brokers' data on memory disks of this size; needs the right to mount.
    package var diskMegabytes: Int?
    /// Where everything lies, and stays; nil = a temporary folder that goes with the cluster.
    package var folder: URL?
    /// Gives each broker a wall clock of its own; nil = all have the machine's.
    package var clocks: ClockShim?
    /// Makes a proxy between clients and brokers, which stops when it is released; nil = clients connect to the brokers.
    package var proxy: (@Sendable ([ClusterRoute]) throws -> any AnyObject & Sendable)?

    package init(brokers: Int = 1, adjust: (inout ClusterSettings) -> Void = { _ in }) {
        precondition(brokers == 1 || brokers == 3, "a cluster has one broker or three")
        self.brokers = brokers
        adjust(&self)
    }
}

/// From a port where clients come to the broker's.
package struct ClusterRoute: Sendable {
    package let listen: UInt16
    package let broker: UInt16

    package init(listen: UInt16, broker: UInt16) { (self.listen, self.broker) = (listen, broker) }
}

package struct ClusterUser: Sendable {
    package var name: String
    package var password: String

    package init(_ name: String, password: String) { (self.name, self.password) = (name, password) }
}

/// A cluster or a process that did not start, or a tool that failed.
package struct ClusterFault: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
}

/// One or three Kafka brokers (KRaft, each a controller too) in one folder, on loopback ports that were free.
///
/// A shell keeps them: when its standard input ends, because ``stop()`` closed it or because this process died, it kills
/// the brokers and deletes the folder. So no process or file remains, however a run ends.
package final class RealCluster: @unchecked Sendable {
    package let settings: ClusterSettings
    /// Of the listener without names and passwords.
    package let bootstrapServers: String
    /// Of the SASL listener; there are users only where the settings name some.
    package let saslServers: String
    /// nil = the settings ask for no TLS.
    package let tls: ClusterTLS?
    /// As the settings ask; nil = clients come to the brokers themselves.
    package let proxy: (any AnyObject & Sendable)?
    package let folder: URL
    let installation: KafkaInstallation
    let ports: [BrokerPorts]
    // Used by one thread at a time, the one that starts, harms and stops the brokers.
    private let keeper = Process()
    private var clocks: [ShimmedClock] = []
    private let leash = Pipe()

    package var brokerIDs: ClosedRange<Int> { 1...settings.brokers }

    package init(_ installation: KafkaInstallation, _ settings: ClusterSettings = .init()) throws {
        (self.installation, self.settings) = (installation, settings)
        ports = try (0..<settings.brokers).map { _ in try BrokerPorts() }
        bootstrapServers = ports.map { "127.0.0.1:\($0.plain)" }.joined(separator: ",")
        saslServers = ports.map { "127.0.0.1:\($0.sasl)" }.joined(separator: ",")
        proxy = try settings.proxy?(ports.map { ClusterRoute(listen: $0.advertised, broker: $0.via) })
        let base = settings.folder ?? FileManager.default.temporaryDirectory
        folder = base.appendingPathComponent("kafka-\(UUID().uuidString)")
        tls = settings.hasTLS ? try ClusterTLS(ports, in: folder.appending(path: "tls")) : nil
        for id in 1...settings.brokers {
            let home = folder.appendingPathComponent(String(id))
            try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
            let text = brokerProperties(id)
            try Data(text.utf8).write(to: home.appendingPathComponent("server.properties"))
        }
        keeper.executableURL = URL(fileURLWithPath: "/bin/sh")
        let numbers = [settings.brokers, settings.diskMegabytes ?? 0].map(String.init)
        let users = settings.users.flatMap { user in
            ["--add-scram", "SCRAM-SHA-256=[name=\(user.name),password=\(user.password)]"]
        }
        let places = [folder.path, installation.java.path, installation.home.path]
        keeper.arguments =
            ["-c", Self.script, "sh"] + places + numbers + [settings.folder == nil ? "" : "kept"] + users
        keeper.standardInput = leash
        if let shim = settings.clocks {
            clocks = try brokerIDs.map { try shim.clock("broker-\($0)") }
            keeper.environment = ProcessInfo.processInfo.environment.merging(shim.ofBrokers) { $1 }
        }
        try keeper.run()
        for id in brokerIDs { try waitUntilListening(id) }
    }

    deinit { stop() }

    /// Kills every broker and deletes the folder, unless the settings keep it.
    package func stop() {
        guard keeper.isRunning else { return }
        try? leash.fileHandleForWriting.close()
        keeper.waitUntilExit()
    }
}

// MARK: - Faults

extension RealCluster {
    /// Stops a broker's clock: connections stay open without an answer, until ``resume(_:)``. Returns once it stands.
    package func pause(_ id: Int = 1) throws {
        try tell("pause \(id)")
        guard let process = process(id), ProcessProgress.waitForStop(of: process) else {
            throw ClusterFault(description: "broker \(id) did not stop")
        }
    }

    package func resume(_ id: Int = 1) throws { try tell("resume \(id)") }

    /// Sets a broker's wall clock so far ahead of the machine's; less than 0 = behind. See ``ClusterSettings/clocks``.
    package func setClock(_ id: Int, milliseconds: Int) throws {
        guard clocks.indices.contains(id - 1) else {
            throw ClusterFault(description: "broker \(id) has no clock of its own")
        }
        try clocks[id - 1].set(milliseconds: milliseconds)
    }

    /// Ends a broker as a power cut would. Ports and data stay its own, until ``start(_:)``.
    package func kill(_ id: Int = 1) throws {
        try tell("kill \(id)")
        try waitUntilEnded(id)
    }

    /// Asks a broker to end, which hands its partitions over first.
    package func terminate(_ id: Int = 1) throws {
        try askToEnd(id)
        try waitUntilEnded(id)
    }

    /// The same, without waiting for the end.
    package func askToEnd(_ id: Int) throws { try tell("term \(id)") }

    /// Starts a broker that has ended again, on the same ports and data; waits until it serves.
    package func start(_ id: Int = 1) throws {
        try launch(id)
        try waitUntilListening(id)
    }

    /// Starts a broker that has ended and does not wait: of three brokers one alone may not get to serve.
    package func launch(_ id: Int) throws {
        try FileManager.default.removeItem(atPath: path(id, "ended"))
        try tell("start \(id)")
    }

    package func isServing(_ id: Int) -> Bool { RawClient(ports[id - 1].plain) != nil }

    package func isRunning(_ id: Int) -> Bool { !FileManager.default.fileExists(atPath: path(id, "ended")) }

    /// Waits until a broker serves.
    ///
    /// - Throws: a ``ClusterFault`` with the end of its log when it ends or stands still.
    package func waitUntilListening(_ id: Int) throws {
        _ = eventually(seconds: 60) {
            progress(id)
        } until: { _ in
            !keeper.isRunning || !isRunning(id) || isServing(id)
        }
        guard isServing(id) else {
            throw ClusterFault(description: "broker \(id) does not serve: \(logTail(id))")
        }
    }

    package func waitUntilEnded(_ id: Int) throws {
        guard eventually(seconds: 60, { progress(id) }, until: { _ in !isRunning(id) }) else {
            throw ClusterFault(description: "broker \(id) does not end")
        }
    }

    private func progress(_ id: Int) -> ProcessProgress {
        ProcessProgress(of: process(id), files: [path(id, "broker.log")])
    }

    private func process(_ id: Int) -> pid_t? {
        (try? String(contentsOfFile: path(id, "pid"), encoding: .utf8)).flatMap { pid_t($0.filter(\.isNumber)) }
    }

    package func logTail(_ id: Int = 1, characters: Int = 2000) -> String {
        String(((try? String(contentsOfFile: path(id, "broker.log"), encoding: .utf8)) ?? "").suffix(characters))
    }

    private func path(_ id: Int, _ name: String) -> String { "\(folder.path)/\(id)/\(name)" }

    private func tell(_ words: String) throws {
        try leash.fileHandleForWriting.write(contentsOf: Data((words + "\n").utf8))
    }
}
