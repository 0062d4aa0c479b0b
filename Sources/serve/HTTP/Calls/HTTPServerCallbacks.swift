internal import CMicrohttpd
internal import Glibc

/// Callbacks of the library, on its one thread. The context is the table of calls, which outlives the daemon.
@safe enum HTTPServerCallbacks {
    /// A connection starts or ends.
    static var connection: MHD_NotifyConnectionCallback {
        { context, connection, state, code in
            guard let calls = unsafe Held.object(context, HTTPCallTable.self), let connection = unsafe connection,
                let state = unsafe state
            else { return }
            if code == .CONNECTION_NOTIFY_STARTED {
                let opened = unsafe calls.connections.opened(CMicrohttpd_descriptor(connection))
                unsafe state.pointee = Unmanaged.passRetained(opened).toOpaque()
            } else if let closed = unsafe Held.object(state.pointee, HTTPConnection.self) {
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
            guard let calls = unsafe Held.object(context, HTTPCallTable.self), let target = unsafe target,
                let connection = unsafe connection,
                let client = unsafe Held.object(CMicrohttpd_socketContext(connection), HTTPConnection.self)
            else { return nil }
            calls.connections.enter(client, .reading)
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
            guard let calls = unsafe Held.object(context, HTTPCallTable.self), let format = unsafe format,
                let arguments = unsafe arguments
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
        { context, _, path, method, version, data, count, state in
            guard let calls = unsafe Held.object(context, HTTPCallTable.self), let path = unsafe path,
                let method = unsafe method, let version = unsafe version, let count = unsafe count,
                let handle = unsafe Held.object(state?.pointee, HTTPCallHandle.self)
            else { return .NO }
            switch handle.stage {
            case .head: return calls.judge(handle, unsafe RequestHead(handle, method, path, version))
            // Even of no bytes: after "Expect: 100-continue" the library calls so for an empty body with a request behind
            // it, and would drop an answer then.
            case .body where unsafe data != nil:
                // So many bytes are there; all of them are taken.
                unsafe calls.add(UnsafeRawBufferPointer(start: data, count: count.pointee), to: handle)
                unsafe count.pointee = 0
                return .YES
            case .body: return calls.hand(handle)
            case .handed: return calls.sendOrSuspend(handle)
            case .answered: return .YES
            }
        }
    }

    /// A request has ended: its answer is sent, or its connection is gone.
    static var completed: MHD_RequestCompletedCallback {
        { context, _, state, code in
            guard let calls = unsafe Held.object(context, HTTPCallTable.self), let state = unsafe state,
                let handle = unsafe Held.object(state.pointee, HTTPCallHandle.self)
            else { return }
            calls.completed(handle, isBroken: code == .REQUEST_TERMINATED_WITH_ERROR)
            unsafe state.pointee = nil
        }
    }
}

/// The library's pointers.
@safe private enum Held {
    /// The object of a pointer. The server keeps the table; a connection is retained from its start to its end, and keeps
    /// its handle from `target` until `completed`.
    static func object<Object: AnyObject>(_ pointer: UnsafeMutableRawPointer?, _: Object.Type) -> Object? {
        unsafe pointer.map { unsafe Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
    }
}
