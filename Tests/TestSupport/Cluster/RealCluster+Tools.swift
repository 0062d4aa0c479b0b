internal import Foundation

/// A right on something: `allow` hands it to a user.
package struct ClusterRight: Sendable {
    package enum Resource: Sendable {
        case topic(String)
        case group(String)
        case transactionalID(String)
    }

    package var user: String
    package var resource: Resource
    /// Kafka's words: Read, Write, Describe, DescribeConfigs and so on.
    package var operations: [String]

    package init(_ user: String, _ operations: [String], on resource: Resource) {
        (self.user, self.operations, self.resource) = (user, operations, resource)
    }

    fileprivate var arguments: [String] {
        let place =
            switch resource {
            case .topic(let name): ["--topic", name]
            case .group(let name): ["--group", name]
            case .transactionalID(let name): ["--transactional-id", name]
            }
        return ["--allow-principal", "User:\(user)"] + operations.flatMap { ["--operation", $0] } + place
    }
}

extension RealCluster {
    /// Hands out rights, in force when this returns.
    package func allow(_ rights: [ClusterRight]) throws {
        for right in rights { try acls(["--add", "--force"] + right.arguments) }
    }

    /// Takes rights back.
    package func withdraw(_ rights: [ClusterRight]) throws {
        for right in rights { try acls(["--remove", "--force"] + right.arguments) }
    }

    private func acls(_ arguments: [String]) throws {
        try tool("org.apache.kafka.tools.AclCommand", ["--bootstrap-server", bootstrapServers] + arguments)
    }

    /// Runs one of Kafka's own tools to its end. - Returns: what it printed.
    @discardableResult
    package func tool(_ className: String, _ arguments: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = installation.java
        process.arguments =
            ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx256m", "-cp", installation.home.path + "/libs/*"]
            + [className] + arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw ClusterFault(description: "\(className): \(text)") }
        return text
    }

    /// Whether this process may mount memory disks: see ``ClusterSettings/diskMegabytes``.
    package static let canMountDisks: Bool = {
        let folder = FileManager.default.temporaryDirectory.path + "/disk-" + UUID().uuidString
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c",
            "mkdir \"$1\" && mount -t tmpfs -o size=1m tmpfs \"$1\" && umount \"$1\"; code=$?; rmdir \"$1\"; exit $code",
            "sh", folder,
        ]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
