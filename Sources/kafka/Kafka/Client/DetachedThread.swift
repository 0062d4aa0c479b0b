internal import Glibc

/// A thread for one call of the library that may take long, or never return.
enum DetachedThread {
    private final class Job {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread, which owns all that it uses until it returns.
    ///
    /// - Returns: false where no thread could be started; `body` was not called.
    static func run(_ body: @escaping () -> Void) -> Bool {
        var thread = pthread_t()
        // The thread's own reference; it is released when the call has returned.
        let reference = unsafe Unmanaged.passRetained(Job(body))
        let code = unsafe pthread_create(
            &thread,
            nil,
            { argument in
                // The reference made above.
                if let argument = unsafe argument {
                    unsafe Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
                }
                return nil
            },
            reference.toOpaque()
        )
        if code != 0 { unsafe reference.release() } else { pthread_detach(thread) }
        return code == 0
    }
}
