import KafkaPorts
import Testing

@testable import Kafka

@Suite("Error codes")
struct KafkaErrorCodeTests {
    @Test(arguments: KafkaErrorCode.allCases)
    func `a code has the library's number and name`(code: KafkaErrorCode) {
        #expect(code.name == code.libraryName)
    }

    @Test(arguments: KafkaErrorCode.allCases)
    func `what follows from a fault of a code is what follows from the code`(code: KafkaErrorCode) {
        let fault = KafkaFault(code: code.rawValue, name: code.name, message: "m")
        // The order in which the library asks for it: what ends a client is never tried again.
        #expect(!(fault.isFatal && fault.isRetriable) && !(fault.requiresAbort && fault.isRetriable))
    }

    @Test func `an unknown code has no consequence`() {
        let fault = KafkaFault(code: 31_000, name: "NEW", message: "m")
        #expect(!fault.isFatal && !fault.isRetriable && !fault.requiresAbort && !fault.isTimeout && !fault.isRefusal)
    }

    @Test(arguments: [KafkaFault.invalid("a"), .fatal("b"), .stale("c"), .timedOut("d")])
    func `a fault that this program makes is not a record's`(fault: KafkaFault) { #expect(!fault.isRecordFault) }
}
