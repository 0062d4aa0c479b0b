import Pipeline
import TestKit
import Testing
internal import Threads

@testable import Kafka

/// What clients that are not polled have to say.
@Suite("The lines of a client's log", .waiting)
struct ClientLogTests {
    /// A transactional producer of a broker that is not there; nobody polls it.
    private static func client(_ context: CallbackContext) throws -> ClientHandle {
        let settings = [
            ("bootstrap.servers", "127.0.0.1:1"), ("transactional.id", "id"), ("enable.idempotence", "true"),
        ]
        return try ClientHandle(.producer, KafkaProperties(settings), context: context)
    }

    @Test(arguments: [false, true])
    func `come at once, and are no errors of a client that is to go`(isLeaving: Bool) throws {
        let lines = Locked<[ClientLog.Line]>([])
        let context = CallbackContext { line in lines.withLock { $0.append(line) } }
        if isLeaving { context.leave() }
        let handle = try Self.client(context)
        func failures() -> [ClientLog.Line] { lines.withLock { $0 }.filter { $0.facility == "FAIL" } }
        #expect(eventually({ failures().count }, until: { $0 > 0 }))
        for line in failures() {
            #expect(line.text.contains("127.0.0.1:1") && line.severity == (isLeaving ? 7 : 3), "\(line)")
        }
        withExtendedLifetime(handle) {}
    }
}
