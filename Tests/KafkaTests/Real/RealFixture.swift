import Foundation
import Kafka
import Pipeline
import TestSupport
import Testing
import Worker

/// Six topics of their own on the suite's broker.
struct RealFixture {
    let names: TopicNames
    let properties: [(String, String)]

    init(_ prefix: String) throws {
        let broker = try #require(RealKafkaTrait.broker)
        names = TopicNames(
            requests: "\(prefix).requests",
            outputs: Dictionary(uniqueKeysWithValues: OutputStream.allCases.map { ($0, "\(prefix).\($0.rawValue)") })
        )
        properties = [
            ("bootstrap.servers", broker.bootstrapServers), ("group.id", prefix), ("session.timeout.ms", "6000"),
            ("heartbeat.interval.ms", "200"), ("log_level", "0"),
        ]
    }

    func create(partitions: Int = 3, replication: Int? = nil) throws -> TopicReport {
        try TopicCreator.createTopics(
            properties: properties,
            topics: names,
            partitions: partitions,
            replication: replication
        )
    }

    func findings() throws -> [TopicFinding] {
        try TopicCheck.findings(properties: properties, topics: names)
    }

    func settings(_ instance: String, _ membership: GroupMembership = .dynamic) -> BrokerSettings {
        BrokerSettings(properties: properties, topics: names, instanceName: instance, membership: membership)
    }

    /// Runs a program to its end with `input` on its standard input.
    func run(_ program: URL, _ arguments: [String], input: String = "") throws -> String {
        let process = Process()
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        try process.run()
        standardInput.fileHandleForWriting.write(Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let output = standardOutput.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: output, as: UTF8.self)
    }
}
