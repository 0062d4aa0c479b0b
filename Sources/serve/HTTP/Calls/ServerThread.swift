internal import CMicrohttpd
internal import Glibc

/// A thread that runs one function. Its maker joins it, once.
@safe final class ServerThread: Sendable {
    private let thread: pthread_t

    /// - Parameter name: as the system shows it; 15 bytes of it.
    init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(HTTPFault) {
        var thread = pthread_t()
        // The thread's own reference; it releases it.
        let reference = unsafe Unmanaged.passRetained(Body(name, body))
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

    /// Returns once the function has.
    func join() { pthread_join(thread, nil) }

    private final class Body: Sendable {
        private let name: String
        private let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }

        func run() {
            // The system copies the name.
            unsafe CMicrohttpd_nameThread(name)
            body()
        }
    }
}
