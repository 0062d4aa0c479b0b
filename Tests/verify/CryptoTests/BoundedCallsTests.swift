import Crypto
import TestKit
import Testing
import Threads

@Suite("Calls that may never return")
struct BoundedCallsTests {
    private let threads = ParkingThreads()

    @Test func `a call that ends brings its value, one that hangs brings nothing to its caller`() {
        let calls = BoundedCalls(on: threads, most: 2)
        let late = Locked<[Int]>([])
        func call(_ number: Int) -> Int? {
            calls.run(within: .zero) {
                number
            } late: { number in
                late.withLock { $0.append(number) }
            }
        }
        #expect(call(1) == 1)
        threads.set(hangs: true)
        #expect(call(2) == nil && late.withLock { $0 } == [])
        threads.set(hangs: false)
        #expect(call(3) == 3)
        threads.release()
        #expect(late.withLock { $0 } == [2], "what came late is handed over, so that a session can be closed")
        #expect(call(4) == 4)
    }

    @Test func `no call begins while too many are inside, and one that returns makes room`() {
        let calls = BoundedCalls(on: threads, most: 3)
        let begun = Locked(0)
        func call() -> Bool? {
            calls.run(within: .zero) {
                begun.withLock { $0 += 1 }
                return true
            }
        }
        threads.set(hangs: true)
        for _ in 0..<10 { #expect(call() == nil) }
        #expect(threads.parked == 3)
        threads.set(hangs: false)
        #expect(call() == nil && begun.withLock { $0 } == 0, "nothing is tried")
        threads.release()
        #expect(begun.withLock { $0 } == 3)
        #expect(call() == true)
    }
}
