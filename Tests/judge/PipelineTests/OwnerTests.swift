import Dispatch
import TestKit
import Testing
import Threads

@Suite("Owners")
struct OwnerTests {
    /// A class that keeps an owner as the program's do.
    private final class Confined: @unchecked Sendable {
        var owner = Owner("Confined")
        private(set) var uses = 0

        func use() {
            owner.check()
            uses += 1
        }
    }

    @Test func `a serial queue may use its classes on each of its threads, and nobody else has to be there first`() {
        let (confined, queue) = (Confined(), DispatchQueue(owner: "own"))
        queue.sync { confined.use() }
        for _ in 0..<100 { queue.async { confined.use() } }
        DispatchQueue.global().sync { queue.sync { confined.use() } }
        #expect(queue.sync { confined.uses } == 102)
    }

    @Test func `a task may use its classes on each of its threads`() async {
        let confined = Confined()
        for _ in 0..<20 {
            confined.use()
            await Task.yield()
        }
        #expect(confined.uses == 20)
    }

    @Test func `what is handed over belongs to its next user`() {
        let (confined, queues) = (Confined(), (0..<3).map { DispatchQueue(owner: "own.\($0)") })
        for queue in queues {
            queue.sync {
                confined.use()
                confined.owner.release()
            }
        }
        confined.use()
        #expect(confined.uses == 4)
    }

    @Test(.startsItself) func `a use from another queue or thread traps`() async {
        await #expect(processExitsWith: .failure) {
            let confined = Confined()
            DispatchQueue(owner: "own").sync { confined.use() }
            DispatchQueue(owner: "other").sync { confined.use() }
        }
        await #expect(processExitsWith: .failure) {
            let confined = Confined()
            confined.use()
            DispatchQueue(owner: "other").sync { confined.use() }
        }
        await #expect(processExitsWith: .failure) {
            let (confined, done) = (Confined(), DispatchSemaphore(value: 0))
            DispatchQueue(owner: "own").sync { confined.use() }
            DispatchQueue.global().async {
                confined.use()
                done.signal()
            }
            done.wait()
        }
        await #expect(processExitsWith: .success) {
            let (confined, queue) = (Confined(), DispatchQueue(owner: "own"))
            queue.sync { confined.use() }
            queue.sync { confined.use() }
        }
    }
}
