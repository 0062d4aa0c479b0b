internal import CMicrohttpd
internal import Glibc

/// Callbacks of the library, on its one thread. The context is the table of calls, which outlives the daemon.
@safe enum HTTPServerCallbacks {
    /// A connection starts or ends.
    static var connection: MHD_NotifyConnectionCallback {
        { context, connection, state, code in
            guard let calls = unsafe Held.calls(context), let connection = unsafe connection, let state = unsafe state
            else {
                return
            }
            if code == .CONNECTION_NOTIFY_STARTED {
                let opened = unsafe calls.connections.opened(CMicrohttpd_descriptor(connection))
                unsafe state.pointee = Unmanaged.passRetained(opened).toOpaque()
            } else if let closed = unsafe Held.connection(state.pointee) {
                // A request that the library gives up twice ends without its callback.
                if let handle = closed.handle { calls.completed(handle, isBroken: true) }
                calls.closed(closed)
                unsafe Unmanaged.passUnretained(closed).release()
                unsafe state.pointee = nil
            }
        }
    }

    /// A request's line has come. Its target is not decoded yet.
    static var target: CMicrohttpd_TargetCallback {
        { context, target, connection in
            guard let calls = unsafe Held.calls(context), let target = unsafe target,
                let connection = unsafe connection,
                let client = unsafe Held.connection(CMicrohttpd_socketContext(connection))
            else { return nil }
            calls.connections.began(client)
            // The text ends with a zero.
            let bytes = unsafe RequestHead.bytes(target, strlen(target))
            let isHead = unsafe RequestHead.hasMethod("HEAD", before: target)
            // The library makes an entry of each parameter, and ends a connection without a word where they find no room:
            // its query is empty from here on. The bytes are its own buffer's, which it writes to next.
            if let query = unsafe strchr(target, 0x3f) { unsafe query[1] = 0 }
            // The library reads the first cookies, and refuses some of them in its own words: this entry has none.
            unsafe MHD_set_connection_value_n(connection, .HEADER_KIND, Self.noCookie, 6, Self.noCookie + 6, 0)
            let handle = unsafe HTTPCallHandle(target: bytes, isHead: isHead, connection: client, library: connection)
            calls.begin(handle)
            return unsafe Unmanaged.passUnretained(handle).toOpaque()
        }
    }
    private static var noCookie: UnsafePointer<CChar> {
        // Constant text, with the zero behind it that is the empty value.
        unsafe UnsafeRawPointer(("Cookie" as StaticString).utf8Start).assumingMemoryBound(to: CChar.self)
    }

    /// The library says what it does: that it refuses a request, before it does so.
    static var log: MHD_LogCallback {
        { context, format, arguments in
            guard let calls = unsafe Held.calls(context), let format = unsafe format, let arguments = unsafe arguments
            else { return }
            // The arguments are the format's.
            let status = unsafe CMicrohttpd_refusal(format, arguments)
            if status != 0 { calls.refuse(status) }
        }
    }

    /// Decodes nothing.
    static var unescape: CMicrohttpd_UnescapeCallback {
        { _, _, text in unsafe text.map { unsafe strlen($0) } ?? 0 }
    }

    /// Called after the headers, with each part of the body, at its end, and when the connection wakes up.
    static var access: MHD_AccessHandlerCallback {
        { context, connection, path, method, version, data, count, state in
            guard let calls = unsafe Held.calls(context), let connection = unsafe connection, let path = unsafe path,
                let method = unsafe method, let version = unsafe version, let count = unsafe count,
                let handle = unsafe Held.handle(state?.pointee)
            else { return .NO }
            let server = unsafe HTTPCallSender(calls: calls, handle: handle, connection: connection)
            switch handle.stage {
            case .head:
                let source = unsafe RequestHead.Source(
                    connection: connection,
                    method: method,
                    path: path,
                    version: version
                )
                return server.judge(RequestHead(source, target: handle.target))
            // Even of no bytes: after "Expect: 100-continue" the library calls so for an empty body with a request behind
            // it, and would drop an answer then.
            case .body where unsafe data != nil:
                // So many bytes are there; all of them are taken.
                unsafe calls.add(UnsafeRawBufferPointer(start: data, count: count.pointee), to: handle)
                unsafe count.pointee = 0
                return .YES
            case .body: return server.hand()
            case .handed: return server.answer()
            case .answered: return .YES
            }
        }
    }

    /// A request has ended: its answer is sent, or its connection is gone.
    static var completed: MHD_RequestCompletedCallback {
        { context, _, state, code in
            guard let calls = unsafe Held.calls(context), let state = unsafe state,
                let handle = unsafe Held.handle(state.pointee)
            else { return }
            calls.completed(handle, isBroken: code == .REQUEST_TERMINATED_WITH_ERROR)
            unsafe state.pointee = nil
        }
    }
}

/// The types of the library's pointers.
@safe private enum Held {
    static func calls(_ context: UnsafeMutableRawPointer?) -> HTTPCallTable? {
        // The server keeps it.
        unsafe context.map { unsafe Unmanaged<HTTPCallTable>.fromOpaque($0).takeUnretainedValue() }
    }

    static func handle(_ state: UnsafeMutableRawPointer?) -> HTTPCallHandle? {
        // Its connection keeps it from `target` until `completed`.
        unsafe state.map { unsafe Unmanaged<HTTPCallHandle>.fromOpaque($0).takeUnretainedValue() }
    }

    static func connection(_ context: UnsafeMutableRawPointer?) -> HTTPConnection? {
        // Retained by `connection` at the connection's start, released at its end.
        unsafe context.map { unsafe Unmanaged<HTTPConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}
