internal import CRdkafka
internal import Glibc
internal import KafkaPorts

/// One call of the library on a separate thread, so that waiting for it ends.
///
/// Sending offsets in 2.0.2 waits until the group's coordinator comes back, however long that takes. A call that was given up goes on, and the objects it uses stay alive until it returns.
@safe
final class BoundedCall {
    private let body: () -> OpaquePointer?
    /// Written by the call's thread before it wakes the caller, read afterwards.
    private var error: OpaquePointer?
    /// A pipe, its reading end first: a byte in it wakes the waiting thread.
    private var wakeup: (Int32, Int32) = (-1, -1)

    private init(_ body: @escaping () -> OpaquePointer?) {
        unsafe self.body = body
        var ends: [Int32] = [-1, -1]
        // Two numbers are written, or none.
        guard unsafe pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        wakeup = (ends[0], ends[1])
    }

    deinit {
        if wakeup.0 >= 0 {
            close(wakeup.0)
            close(wakeup.1)
        }
        // The outcome of a call that was given up.
        if let error = unsafe error { unsafe rd_kafka_error_destroy(error) }
    }

    /// The outcome of the call: an error object for the caller to free, or nil.
    ///
    /// - Parameter goesOn: asked twice a second during the call; false gives it up.
    /// - Throws: a fatal ``KafkaFault`` if it did not return in time or was given up: it may then never return.
    static func run(
        _ action: String,
        timeoutMilliseconds: Int,
        goesOn: () -> Bool = { true },
        _ body: @escaping () -> OpaquePointer?
    ) throws(KafkaFault) -> OpaquePointer? {
        let call = unsafe BoundedCall(body)
        guard call.wakeup.0 >= 0, DetachedThread.run(call.perform) else {
            throw .fatal("\(action): no thread could be started")
        }
        guard call.wait(timeoutMilliseconds, goesOn) else {
            throw .timedOut("\(action): no answer in time").with(
                isFatal: true,
                requiresAbort: false
            )
        }
        defer { unsafe call.error = nil }
        return unsafe call.error
    }

    private func perform() {
        unsafe error = body()
        var byte: UInt8 = 1
        // One byte of our own.
        _ = unsafe write(wakeup.1, &byte, 1)
    }

    private static let sliceMilliseconds = 500

    /// False when the time is up, or the call is given up.
    private func wait(_ milliseconds: Int, _ goesOn: () -> Bool) -> Bool {
        var left = milliseconds
        while true {
            let slice = min(left, Self.sliceMilliseconds)
            if hasRung(slice) { return true }
            left -= slice
            // A call that returned during `goesOn` is not given up.
            guard left > 0, goesOn() else { return hasRung(0) }
        }
    }

    private func hasRung(_ milliseconds: Int) -> Bool {
        var entry = pollfd(fd: wakeup.0, events: Int16(POLLIN), revents: 0)
        // A signal cuts a wait short; at worst the whole time is waited again.
        var result = unsafe poll(&entry, 1, clampedMilliseconds(milliseconds))
        if result < 0 { result = unsafe poll(&entry, 1, clampedMilliseconds(milliseconds)) }
        return result > 0
    }
}
