import Kafka
import KafkaKit
import KafkaPorts
import TestKit
import Testing

/// What commands ask the coordinator of a group that they do not belong to.
@Suite(.waiting)
struct AdminTests {
    private static let offsetFetch: Int16 = 9

    /// The admin call of the library that asks for them ends the process here, with 15 and 16.
    @Test(arguments: [nil, 14, 15, 16] as [Int32?])
    func `a group's offsets are read by one who is no member, also once a coordinator has loaded, come or moved`(
        code: Int32?
    ) throws {
        try withMock { fixture in
            let admin = try Admin(KafkaProperties(fixture.properties(group: "another")))
            let offset = PartitionOffset(partition: 1, offset: 7, metadata: bytes("mark"))
            try admin.setOffsets(ofGroup: "group", topic: MockFixture.topic, [offset])
            func offsets() throws -> [CommittedOffset] {
                try admin.committedOffsets(ofGroup: "group", topic: MockFixture.topic, partitions: [0, 1])
            }
            if let code {
                fixture.cluster.failRequests(Self.offsetFetch, with: [code])
                let first = Result { try offsets() }
                if case .failure(let fault) = first { #expect((fault as? KafkaFault)?.isRetriable == true, "\(fault)") }
            }
            let found = try offsets()
            let committed = CommittedOffset(partition: 1, offset: 7, metadata: bytes("mark"))
            #expect(found == [CommittedOffset(partition: 0, offset: nil), committed])
        }
    }
}
