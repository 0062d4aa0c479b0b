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

    /// `_CRIT_SYS_RESOURCE`, and a broken property, which leaves no code.
    @Test(arguments: [(-194, true), (0, false), (-186, false)] as [(Int32, Bool)])
    func `a client that a clock step keeps from starting is tried again: its properties are not to blame`(
        code: Int32,
        passes: Bool
    ) throws {
        let text = "Timed out waiting for 1 background thread(s) to initialize"
        let fault = ClientHandle.passing(code, text)
        #expect((fault?.isRecoverable == true) == passes && fault.map { $0.message.hasSuffix(text) } ?? !passes)
        #expect(fault.map { $0.name == "_CRIT_SYS_RESOURCE" } ?? !passes)
    }

    @Test func `what the library cannot do at all is no damage`() {
        let fault = Self.fault(Self.unknownFormat)
        #expect(!fault.isDamage && !fault.requiresAbort)
        // `_TRANSPORT`
        #expect(!Self.fault(-195).reading(2).isDamage)
    }
}
