internal import CMicrohttpd
internal import Glibc

/// A thread that sweeps the connections at each tick.
final class ConnectionSweeper: Sendable {
    private let timer: Int32
    private let thread: ServerThread

    /// - Parameter tickMilliseconds: greater than 0.
    init(_ table: ConnectionTable, _ drips: Drips, tickMilliseconds: UInt32) throws(HTTPFault) {
        let timer = CMicrohttpd_timer(tickMilliseconds)
        guard timer >= 0 else { throw HTTPFault("the HTTP server cannot make a timer") }
        do throws(HTTPFault) {
            thread = try ServerThread("http-sweeper") {
                var ticks: UInt64 = 0
                // Eight bytes: how many periods have passed.
                let count = unsafe read(timer, &ticks, MemoryLayout<UInt64>.size)
                guard count == MemoryLayout<UInt64>.size else { return }
                table.sweep(ticks: ticks)
                drips.tick()
            }
        } catch {
            close(timer)
            throw error
        }
        self.timer = timer
    }

    deinit {
        // The last sweep finds no connection: the server has ended them.
        thread.stop { CMicrohttpd_ring(timer) }
        close(timer)
    }
}
