internal import CMicrohttpd
internal import Threads

/// One request and its answer, from the request's line to the answer's last byte.
///
/// The library's connection is suspended while the answer is awaited, and may only be resumed then: both happen under
/// this object's lock. What is not in `state` belongs to the server's thread.
@safe final class HTTPCallHandle: @unchecked Sendable {
    private var owner = Owner("HTTPCallHandle")
    /// The state of the request, on the server's thread.
    enum Stage { case head, body, handed, answered }

    private enum State {
        /// No answer; the handler may still run.
        case handed
        /// No answer, and the connection sleeps.
        case suspended(HTTPSuspended)
        case answered(HTTPReply)
        /// The answer is with the library, or the connection has ended.
        case done
    }

    /// Up to its end or first zero byte.
    let target: [UInt8]
    /// Whether the method is HEAD, whose answers have no body.
    let isHead: Bool
    let connection: HTTPConnection
    /// Its place among the unfinished heads.
    var place: Int?
    var stage = Stage.head
    var body: [UInt8] = []
    /// Sent once the body has been read and dropped.
    var refusal: HTTPRefusalKind?
    /// Whether it came by HTTP/1.0, whose connections end with each answer.
    var isOld = false
    var head: RequestHead?
    private let state = Locked(State.handed)

    /// The library's connection, valid until the request has ended.
    let library: OpaquePointer

    init(target: [UInt8], isHead: Bool, connection: HTTPConnection, library: OpaquePointer) {
        (self.target, self.isHead, self.connection) = (target, isHead, connection)
        unsafe self.library = library
    }

    /// Whether the library has its headers and judges them, before the handler may.
    var isJudged: Bool { unsafe CMicrohttpd_isJudged(library) != 0 }

    /// Bytes of the body; those of a refused one are dropped. On the server's thread.
    ///
    /// - Returns: how many are held.
    func add(_ bytes: UnsafeRawBufferPointer) -> Int {
        owner.check()
        guard refusal == nil else { return 0 }
        let count = body.count + bytes.count
        // Room is made as bytes come, and for no more than were announced.
        if count > body.capacity { body.reserveCapacity(min(2 * count, max(head?.length ?? 0, count))) }
        unsafe body.append(contentsOf: bytes)
        return bytes.count
    }

    /// Answers the call, from any thread. The first answer counts.
    ///
    /// - Parameter noted: called for the answer that counts, before its client can have it.
    func answer(_ reply: HTTPReply, noted: () -> Void) {
        state.withLock { state in
            switch state {
            case .handed:
                noted()
                state = .answered(reply)
            case .suspended(let connection):
                noted()
                state = .answered(reply)
                // Under the lock: nothing can end a suspended connection before this.
                connection.resume()
            case .answered, .done: return
            }
        }
    }

    /// The answer if there is one; otherwise the connection sleeps until then. On the server's thread.
    ///
    /// - Parameter wakeup: signalled when the connection is to wake up.
    func answerOrSuspend(_ wakeup: Wakeup) -> HTTPReply? {
        owner.check()
        return state.withLock { state in
            if case .answered(let reply) = state {
                state = .done
                return reply
            }
            // Once: a connection that wakes up has an answer.
            if case .handed = state { state = .suspended(unsafe HTTPSuspended(library, wakeup)) }
            return nil
        }
    }

    /// No connection is touched from here on.
    func end() -> Bool {
        state.withLock { state in
            defer { state = .done }
            if case .handed = state { return true }
            return false
        }
    }
}

/// A connection of the library's that sleeps.
@safe struct HTTPSuspended: @unchecked Sendable {
    private let pointer: OpaquePointer
    private let wakeup: Wakeup

    init(_ connection: OpaquePointer, _ wakeup: Wakeup) {
        unsafe pointer = connection
        self.wakeup = wakeup
        // Called on the server's thread, inside its access handler.
        unsafe MHD_suspend_connection(connection)
    }

    func resume() {
        // Alive as long as it sleeps.
        unsafe MHD_resume_connection(pointer)
        // A daemon that is run from outside wakes nobody.
        wakeup.signal()
    }
}

/// The handler's side of a call.
final class CallResponder: HTTPResponder {
    private let handle: HTTPCallHandle
    private let calls: HTTPCallTable

    init(_ handle: HTTPCallHandle, _ calls: HTTPCallTable) { (self.handle, self.calls) = (handle, calls) }

    deinit { calls.answer(handle, HTTPCallTable.noAnswer) }

    func answer(_ reply: HTTPReply) { calls.answer(handle, reply) }
}
