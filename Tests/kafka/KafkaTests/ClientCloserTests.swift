import Dispatch
import Pipeline
import Synchronization
import TestKit
import Testing
internal import Threads

@testable import Kafka

@Suite("Clients that end in the background", .waiting)
struct ClientCloserTests {
    /// A call that returns once the test lets it.
    private final class Hanging: Sendable {
        let mayReturn = DispatchSemaphore(value: 0)
        private let begun = Atomic(false)
        var hasBegun: Bool { begun.load(ordering: .relaxed) }

        func run() {
            begun.store(true, ordering: .relaxed)
            mayReturn.wait()
        }
    }

    private func isAbandoned(_ count: Int, _ closer: ClientCloser) -> Bool {
        eventually({ closer.abandoned }, until: { $0 == count })
    }

    @Test func `a client whose end hangs makes nobody wait, and is counted until it has ended`() {
        let (closer, hanging) = (ClientCloser(graceMilliseconds: 50), Hanging())
        // Returns, although the call never would.
        closer.end("hanging", hanging.run)
        #expect(isAbandoned(1, closer))
        #expect(hanging.hasBegun)
        // Others end beside it.
        let others = Locked(0)
        for number in 0..<8 { closer.end("\(number)") { others.withLock { $0 += 1 } } }
        // Waits for those, and not for the one that is given up.
        closer.finish()
        let ended = others.withLock { $0 }
        #expect(ended == 8 && closer.abandoned == 1)
        hanging.mayReturn.signal()
        #expect(isAbandoned(0, closer))
    }

    @Test func `a client that ends in time is never counted, and the process's end waits for it`() {
        let (closer, hanging) = (ClientCloser(graceMilliseconds: 600_000), Hanging())
        closer.end("slow", hanging.run)
        later(milliseconds: 50) { hanging.mayReturn.signal() }
        closer.finish()
        #expect(closer.abandoned == 0)
    }
}
