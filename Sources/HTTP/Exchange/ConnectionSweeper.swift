internal import CMicrohttpd
internal import Glibc

/// A thread that sweeps the connections at each tick.
@safe final class ConnectionSweeper: Sendable {
    private let table: ConnectionTable
    private let timer: Int32
    private let isStopped = Guarded(false)
    private let thread: pthread_t

    /// - Parameter tickMilliseconds: greater than 0.
    init(_ table: ConnectionTable, tickMilliseconds: UInt32) throws(HTTPFault) {
        let timer = CMicrohttpd_timer(tickMilliseconds)
        guard timer >= 0 else { throw HTTPFault("the HTTP server cannot make a timer") }
        let sweep = Sweep(table: table, timer: timer, isStopped: isStopped)
        var thread = pthread_t()
        // The thread's own reference; it releases it.
        let reference = unsafe Unmanaged.passRetained(sweep)
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                // The reference made above.
                if let argument = unsafe argument {
                    unsafe Unmanaged<Sweep>.fromOpaque(argument).takeRetainedValue().run()
                }
                return nil
            },
            reference.toOpaque()
        )
        guard code == 0 else {
            unsafe reference.release()
            close(timer)
            throw HTTPFault("the HTTP server cannot start a thread")
        }
        (self.table, self.timer, self.thread) = (table, timer, thread)
    }

    deinit {
        isStopped.withLock { isStopped in isStopped = true }
        CMicrohttpd_ring(timer)
        // Ends after the sweep at hand.
        pthread_join(thread, nil)
        close(timer)
    }

    /// What the thread needs.
    private final class Sweep: Sendable {
        let table: ConnectionTable
        let timer: Int32
        let isStopped: Guarded<Bool>

        init(table: ConnectionTable, timer: Int32, isStopped: Guarded<Bool>) {
            (self.table, self.timer, self.isStopped) = (table, timer, isStopped)
        }

        func run() {
            var ticks: UInt64 = 0
            while true {
                // Eight bytes: how many periods have passed.
                let count = unsafe read(timer, &ticks, MemoryLayout<UInt64>.size)
                if isStopped.withLock({ $0 }) { return }
                if count == MemoryLayout<UInt64>.size { table.sweep(ticks: ticks) }
            }
        }
    }
}
