import KafkaPorts
import Testing

@testable import Kafka

@Suite
struct KafkaFaultTests {
    /// `_NOT_IMPLEMENTED`.
    private static let unknownFormat: Int32 = -170

    private static func fault(_ code: Int32) -> KafkaFault { KafkaFault(code: code, name: "", message: "reading") }

    @Test func `a format of a partition's bytes that the library does not know is damage, and is read again`() {
        let fault = Self.fault(Self.unknownFormat).reading(2)
        #expect(fault.isDamage && fault.requiresAbort && !fault.isFatal)
        #expect(fault.partition == 2)
    }

    @Test func `what the library cannot do at all is no damage`() {
        let fault = Self.fault(Self.unknownFormat)
        #expect(!fault.isDamage && !fault.requiresAbort)
        // `_TRANSPORT`
        #expect(!Self.fault(-195).reading(2).isDamage)
    }
}
