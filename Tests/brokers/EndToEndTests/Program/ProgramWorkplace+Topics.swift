import Broker
import BrokerKit
import ChaosKit
import Foundation
import Kafka
import Streams
import TestKit
import Testing

// MARK: - Work

extension ProgramWorkplace {
    static let verbsOfKeys =
        "verifyAttestation,verifyAssertion,exchangeAppAttestAttestation,exchangeAppAttestAssertion"

    /// The same traffic unpublished, in the order in which it was made. Its capture stays in `simulated.ndjson`.
    func simulated(
        devices: Int,
        records: Int,
        faults: Double = 0,
        verbs: String? = nil
    ) throws -> [InboundRecord] {
        try done("simulate", Self.load(devices, records, faults, verbs) + ["--output", file("simulated.ndjson")])
        return try captured("simulated.ndjson")
    }

    /// Runs a command to its end, which must be exit code 1. - Returns: the process, for what it said.
    @discardableResult
    func refused(
        _ command: String,
        _ arguments: String...,
        location: SourceLocation = #_sourceLocation
    ) throws -> ProgramProcess {
        try refused(command, arguments, location: location)
    }

    @discardableResult
    func refused(
        _ command: String,
        _ arguments: [String],
        location: SourceLocation = #_sourceLocation
    ) throws -> ProgramProcess {
        let process = try start(command, arguments)
        #expect(process.waitForEnd() == .exit(1), "\(process.output) \(process.error)", sourceLocation: location)
        return process
    }

    /// Waits until the group has so many members and is at rest.
    func hasMembers(_ count: Int) throws -> Bool {
        let admin = try Admin(properties)
        return Deadline.wait(30) {
            guard let found = try? admin.group(group), found.members == count else { return false }
            return count == 0 || found.state == "Stable"
        }
    }
}

// MARK: - Topics

extension ProgramWorkplace {
    func put(_ records: some Sequence<InboundRecord>) throws {
        try put(records.map { PublishRecord(key: $0.key, value: $0.value, headers: $0.headers) })
    }

    /// Runs kcat on the requests topic. - Returns: what it printed.
    @discardableResult
    func kcat(_ arguments: String...) throws -> Data {
        try Kcat.run(properties["bootstrap.servers"] ?? "", topic: requests, arguments)
    }
}
