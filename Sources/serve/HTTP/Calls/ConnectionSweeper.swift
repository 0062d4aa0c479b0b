internal import CMicrohttpd
internal import Glibc
internal import Threads

/// A thread that sweeps the connections at each tick.
final class ConnectionSweeper: Sendable {
    private let timer: Int32
    private let isStopped = Locked(false)
    private let thread: ServerThread

    /// - Parameter tickMilliseconds: greater than 0.
    init(_ table: ConnectionTable, _ drips: Drips, tickMilliseconds: UInt32) throws(HTTPFault) {
        let (timer, isStopped) = (CMicrohttpd_timer(tickMilliseconds), isStopped)
        guard timer >= 0 else { throw HTTPFault("the HTTP server cannot make a timer") }
        do throws(HTTPFault) {
            thread = try ServerThread("http-sweeper") {
                var ticks: UInt64 = 0
                while true {
                    // Eight bytes: how many periods have passed.
                    let count = unsafe read(timer, &ticks, MemoryLayout<UInt64>.size)
                    if isStopped.withLock({ $0 }) { return }
                    guard count == MemoryLayout<UInt64>.size else { continue }
                    table.sweep(ticks: ticks)
                    drips.tick()
                }
            }
        } catch {
            close(timer)
            throw error
        }
        self.timer = timer
    }

    deinit {
        isStopped.withLock { isStopped in isStopped = true }
        CMicrohttpd_ring(timer)
        // Ends after the sweep at hand.
        thread.join()
        close(timer)
    }
}
