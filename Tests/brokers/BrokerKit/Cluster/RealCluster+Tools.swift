internal import Foundation
internal import TestKit

/// An ACL of a user. A denied operation stays denied, whatever else is allowed.
package struct AccessRule: Sendable {
    package enum Resource: Sendable {
        case topic(String)
        case group(String)
        case transactionalID(String)

        var arguments: [String] {
            switch self {
            case .topic(let name): ["--topic", name]
            case .group(let name): ["--group", name]
            case .transactionalID(let name): ["--transactional-id", name]
            }
        }
    }

    package var user: String
    /// Kafka's words: Read, Write, Describe, DescribeConfigs and so on.
    package var operations: [String]
    package var resources: [Resource]
    package var isDenial = false
    /// The names are the beginnings of names.
    package var isPrefixed = false

    package init(_ user: String, _ operations: [String], on resources: [Resource]) {
        (self.user, self.operations, self.resources) = (user, operations, resources)
    }

    var arguments: [String] {
        var arguments = [isDenial ? "--deny-principal" : "--allow-principal", "User:\(user)"]
        for operation in operations { arguments += ["--operation", operation] }
        for resource in resources { arguments += resource.arguments }
        if isPrefixed { arguments += ["--resource-pattern-type", "prefixed"] }
        return arguments
    }
}

/// Kafka's own tools, by their classes.
package enum KafkaTool: String, Sendable {
    case topics = "org.apache.kafka.tools.TopicCommand"
    case acls = "org.apache.kafka.tools.AclCommand"
    case configs = "kafka.admin.ConfigCommand"
    case groups = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
    case records = "org.apache.kafka.tools.DeleteRecordsCommand"
}

extension RealCluster {
    /// Adds rules, in force when this returns.
    package func add(_ rules: [AccessRule]) throws {
        for rule in rules { try tool(.acls, ["--add", "--force"] + rule.arguments) }
    }

    package func remove(_ rules: [AccessRule]) throws {
        for rule in rules { try tool(.acls, ["--remove", "--force"] + rule.arguments) }
    }

    /// Gives topics more partitions: as many as `count` altogether.
    package func addPartitions(_ count: Int32, to topics: [String]) throws {
        for topic in topics {
            try tool(.topics, "--alter", "--topic", topic, "--partitions", String(count))
        }
    }

    package func deleteTopic(_ name: String) throws { try tool(.topics, "--delete", "--topic", name) }

    /// Changes settings of topics, clients or brokers.
    ///
    /// - Parameter name: nil = of all that have none of their own.
    package func configure(_ kind: String, _ name: String?, _ change: String...) throws {
        let entity = name.map { ["--entity-name", $0] } ?? ["--entity-default"]
        try tool(.configs, ["--alter", "--entity-type", kind] + entity + change)
    }

    @discardableResult
    package func tool(_ tool: KafkaTool, _ arguments: String...) throws -> String { try self.tool(tool, arguments) }

    /// Runs one of Kafka's own tools on this cluster to its end. - Returns: what it printed.
    @discardableResult
    package func tool(_ tool: KafkaTool, _ arguments: [String]) throws -> String {
        let places = ["-Xmx256m", "-cp", installation.home.path + "/libs/*", tool.rawValue]
        let java = [installation.java.path, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        let run = PythonLab.run(java + places + ["--bootstrap-server", bootstrapServers] + arguments)
        let text = String(decoding: run.output, as: UTF8.self) + run.error
        guard run.code == 0 else { throw ClusterFault(description: "\(tool.rawValue): \(text)") }
        return text
    }

    /// Whether this process may mount memory disks: see ``ClusterSettings/diskMegabytes``.
    package static let canMountDisks: Bool = {
        let folder = FileManager.default.temporaryDirectory.path + "/disk-" + UUID().uuidString
        let trial =
            #"mkdir "$1" && mount -t tmpfs -o size=1m tmpfs "$1" && umount "$1"; "#
            + #"code=$?; rmdir "$1"; exit $code"#
        return PythonLab.run(["sh", "-c", trial, "sh", folder]).code == 0
    }()
}
