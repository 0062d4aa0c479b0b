internal import CMicrohttpd
internal import Glibc
internal import Threads

/// How the bytes of an answer's body leave: servers that are slow or broken can be imitated.
package enum HTTPPace: Sendable, Equatable {
    /// The client takes them as fast as it can.
    case free
    /// So many at each tick: a tenth of the time that the client has to take its answer, and a second at most.
    case dripping(bytes: Int)
    /// So many of them, after which the connection ends.
    case cut(after: Int)
}

/// The body of an answer that does not leave at once. The library asks for its bytes on the server's thread.
@safe final class PacedBody: @unchecked Sendable {
    private var owner = Owner("PacedBody")
    private let bytes: [UInt8]
    private let pace: HTTPPace
    private let drips: Drips
    private let connection: OpaquePointer
    /// Whether a tick has passed since the last bytes.
    private var hasWaited = true

    /// - Parameter connection: sends the body, and is there until its last byte.
    private init(_ reply: HTTPReply, _ connection: OpaquePointer, _ drips: Drips) {
        (bytes, pace, self.drips) = (reply.body, reply.pace, drips)
        unsafe self.connection = unsafe connection
    }

    /// A response of the library's; nil without memory.
    static func response(_ reply: HTTPReply, _ connection: OpaquePointer, _ drips: Drips) -> OpaquePointer? {
        guard reply.pace != .free else {
            // The bytes are copied at once.
            return unsafe reply.body.withUnsafeBytes { bytes in
                let start = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                return unsafe MHD_create_response_from_buffer(bytes.count, start, .RESPMEM_MUST_COPY)
            }
        }
        // The library's own reference, which it releases with the response.
        let body = unsafe Unmanaged.passRetained(PacedBody(reply, connection, drips))
        let made = unsafe MHD_create_response_from_callback(
            UInt64(reply.body.count),
            block,
            { context, position, target, count in
                // The reference made above; so many bytes have room.
                unsafe context.map { context in
                    unsafe Unmanaged<PacedBody>.fromOpaque(context).takeUnretainedValue()
                        .read(Int(clamping: position), UnsafeMutableRawBufferPointer(start: target, count: count))
                } ?? PacedBody.broken
            },
            body.toOpaque(),
            { context in
                // The reference made above.
                if let context = unsafe context { unsafe Unmanaged<PacedBody>.fromOpaque(context).release() }
            }
        )
        if unsafe made == nil { unsafe body.release() }
        return unsafe made
    }

    private static let block = 4_096
    /// The library ends the connection.
    private static let broken = CMicrohttpd_bodyIsBroken

    /// - Returns: how many bytes are in `target`; 0 = to be asked again.
    private func read(_ position: Int, _ target: UnsafeMutableRawBufferPointer) -> Int {
        owner.check()
        switch pace {
        case .free: return unsafe copy(position, target, most: target.count)
        case .cut(let end):
            return position < end ? unsafe copy(position, target, most: end - position) : Self.broken
        case .dripping(let count):
            guard hasWaited else {
                guard unsafe drips.wait(for: connection) else { return Self.broken }
                hasWaited = true
                return 0
            }
            hasWaited = false
            return unsafe copy(position, target, most: max(1, count))
        }
    }

    private func copy(_ position: Int, _ target: UnsafeMutableRawBufferPointer, most: Int) -> Int {
        let part = bytes[min(position, bytes.count)..<min(position + min(most, target.count), bytes.count)]
        // Room for that many.
        unsafe target.copyBytes(from: part)
        return part.count
    }
}

/// The connections that wait for the next tick.
final class Drips: Sendable {
    private struct State {
        var waiting: [HTTPSuspended] = []
        var isOver = false
    }

    private let state = Locked(State())
    private let wakeup: Wakeup

    init(_ wakeup: Wakeup) { self.wakeup = wakeup }

    /// Suspends a connection. On the server's thread.
    ///
    /// - Returns: false once nothing waits any more.
    func wait(for connection: OpaquePointer) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.waiting.append(unsafe HTTPSuspended(connection, wakeup))
            return true
        }
    }

    /// Lets all go on. From any thread.
    ///
    /// - Parameter isLast: whether none may wait again: a daemon cannot stop while a connection sleeps.
    func tick(isLast: Bool = false) {
        state.withLock { state in
            if isLast { state.isOver = true }
            // Under the lock: nothing can end a suspended connection before this.
            for connection in state.waiting { connection.resume() }
            state.waiting = []
        }
    }
}
