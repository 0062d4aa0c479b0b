#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A value behind a `pthread_mutex_t`, which ThreadSanitizer understands. For state only, never across callbacks.
@safe package final class Locked<Value>: @unchecked Sendable {
    private var value: Value
    // Allocated once, so that the mutex keeps one address for its whole life.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    package init(_ value: Value) {
        self.value = value
        unsafe mutex.initialize(to: pthread_mutex_t())
        let code = unsafe pthread_mutex_init(mutex, nil)
        precondition(code == 0, "a mutex can be made")
    }

    deinit {
        // An object without references has no caller that could hold the lock.
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    /// Runs `body` with the value under the lock. `body` must not call back into this object.
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
