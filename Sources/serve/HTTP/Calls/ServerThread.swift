internal import CMicrohttpd
internal import Glibc
internal import Threads

/// A thread that runs one function again and again. Its maker stops it, once.
@safe final class ServerThread: Sendable {
    private let thread: pthread_t
    private let isStopped = Locked(false)

    /// - Parameters:
    ///   - name: as the system shows it; 15 bytes of it.
    ///   - round: sleeps until there is something to do, and does it.
    init(_ name: String, _ round: @escaping @Sendable () -> Void) throws(HTTPFault) {
        var thread = pthread_t()
        // The thread's own reference; it releases it.
        let reference = unsafe Unmanaged.passRetained(Body(name, isStopped, round))
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                // The reference made above.
                if let argument = unsafe argument {
                    unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                }
                return nil
            },
            reference.toOpaque()
        )
        guard code == 0 else {
            unsafe reference.release()
            throw HTTPFault("the HTTP server cannot start a thread")
        }
        self.thread = thread
    }

    /// Returns after the last round. Not from the thread itself.
    ///
    /// - Parameter wake: ends a round's sleep.
    func stop(_ wake: () -> Void) {
        isStopped.withLock { isStopped in isStopped = true }
        wake()
        pthread_join(thread, nil)
    }

    private final class Body: Sendable {
        private let name: String
        private let isStopped: Locked<Bool>
        private let round: @Sendable () -> Void

        init(_ name: String, _ isStopped: Locked<Bool>, _ round: @escaping @Sendable () -> Void) {
            (self.name, self.isStopped, self.round) = (name, isStopped, round)
        }

        func run() {
            // The system copies the name.
            unsafe CMicrohttpd_nameThread(name)
            while !isStopped.withLock({ $0 }) { round() }
        }
    }
}
