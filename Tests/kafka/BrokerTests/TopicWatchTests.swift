import Dispatch
import TestKit
import Testing
import Threads

@testable import Broker

/// The settings of topics change while a fleet runs.
struct TopicWatchTests {
    private static func problem(_ text: String) -> TopicFinding { TopicFinding(severity: .problem, message: text) }

    /// The lines that were said, in their order.
    private static func watch(
        known: [TopicFinding] = [],
        ask: @escaping @Sendable () throws -> [TopicFinding] = { [] }
    ) -> (watch: TopicWatch, said: Locked<[String]>) {
        let said = Locked<[String]>([])
        let watch = TopicWatch(known: known, ask: ask) { finding in
            said.withLock { $0.append(finding.message) }
        }
        return (watch, said)
    }

    @Test func `what is new is said once, and once more after it was gone`() {
        let (watch, said) = Self.watch(known: [Self.problem("old")])
        let ledger = Self.problem("topic ledger has cleanup.policy=delete")
        watch.note([Self.problem("old")])
        #expect(said.withLock { $0 }.isEmpty, "the start has said it")
        watch.note([Self.problem("old"), ledger])
        watch.note([ledger, Self.problem("old")])
        watch.note(nil)
        #expect(said.withLock { $0 } == [ledger.message])
        watch.note([])
        watch.note([ledger])
        #expect(said.withLock { $0 } == [ledger.message, ledger.message])
    }

    @Test func `what a broker says that has just started is not said`() {
        let (watch, said) = Self.watch()
        watch.note([TopicFinding(severity: .problem, message: "no such topic: ledger", mayPass: true)])
        #expect(said.withLock { $0 }.isEmpty)
    }

    @Test func `it looks every five minutes, and never twice at once`() {
        let (asked, release) = (Locked(0), DispatchSemaphore(value: 0))
        let (watch, said) = Self.watch {
            release.wait()
            let number = asked.withLock { count in
                count += 1
                return count
            }
            return [Self.problem("look \(number)")]
        }
        func poll(_ count: Int) { for _ in 0..<count { watch.poll() } }
        poll(TopicWatch.pollsPerLook)
        // The first look waits for its broker meanwhile.
        poll(3 * TopicWatch.pollsPerLook)
        release.signal()
        #expect(eventually({ said.withLock { $0 } }, until: { $0 == ["look 1"] }))
        poll(1)
        release.signal()
        #expect(eventually({ said.withLock { $0 } }, until: { $0 == ["look 1", "look 2"] }))
        poll(TopicWatch.pollsPerLook - 1)
        #expect(asked.withLock { $0 } == 2, "not before its time")
    }
}
