import Kafka
import KafkaKit
import KafkaPorts
import TestKit
import Testing

/// What commands ask the coordinator of a group that they do not belong to.
@Suite(.waiting)
struct AdminTests {
    private static let offsetFetch: Int16 = 9

    /// A group with an offset of partition 1, committed by one who is no member.
    private func withGroup(_ body: (MockFixture, Admin) throws -> Void) throws {
        try withMock { fixture in
            let admin = try Admin(KafkaProperties(fixture.properties(group: "another")))
            let offset = PartitionOffset(partition: 1, offset: 7, metadata: bytes("mark"))
            try admin.setOffsets(ofGroup: "group", topic: MockFixture.topic, [offset])
            try body(fixture, admin)
        }
    }

    private func offsets(_ admin: Admin) throws -> [CommittedOffset] {
        try admin.committedOffsets(ofGroup: "group", topic: MockFixture.topic, partitions: [0, 1])
    }

    private static let expected = [
        CommittedOffset(partition: 0, offset: nil), CommittedOffset(partition: 1, offset: 7, metadata: bytes("mark")),
    ]

    @Test func `a group's offsets are read by one who is no member`() throws {
        try withGroup { _, admin in
            let found = try offsets(admin)
            #expect(found == Self.expected)
        }
    }

    /// The admin call of the library that asks for them ends the process here, with any of these answers but the first.
    @Test(arguments: [14, 15, 16] as [Int32])
    func `a coordinator that loads, is absent or has moved refuses them for a while`(code: Int32) throws {
        try withGroup { fixture, admin in
            fixture.cluster.failRequests(Self.offsetFetch, with: [code])
            let first = Result { try offsets(admin) }
            if case .failure(let fault) = first { #expect((fault as? KafkaFault)?.isRetriable == true, "\(fault)") }
            let found = try offsets(admin)
            #expect(found == Self.expected)
        }
    }
}
