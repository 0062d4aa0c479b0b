internal import CMicrohttpd
internal import Glibc

/// Answers the daemon's requests, on the daemon's thread.
final class HTTPAccess: Sendable {
    private let handler: HTTPServer.Handler
    /// The open connections' descriptors.
    private let open = Guarded<Set<Int32>>([])

    init(_ handler: @escaping HTTPServer.Handler) { self.handler = handler }

    /// Unretained: the server keeps this object until the daemon has stopped.
    var context: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

    var isIdle: Bool { open.withLock(\.isEmpty) }

    /// Ends all connections; the daemon's thread sees that and cleans up.
    func cutAll() { open.withLock { for descriptor in $0 { shutdown(descriptor, Int32(SHUT_RDWR)) } } }

    /// A connection starts, or ends: then its descriptor is not closed yet.
    static var connection: MHD_NotifyConnectionCallback {
        { context, connection, _, code in
            guard let context = unsafe context, let connection = unsafe connection else { return }
            // The context is the object that the server keeps alive.
            let access = unsafe Unmanaged<HTTPAccess>.fromOpaque(context).takeUnretainedValue()
            let descriptor = unsafe CMicrohttpd_descriptor(connection)
            access.open.withLock { open in
                if code == .CONNECTION_NOTIFY_STARTED { open.insert(descriptor) } else { open.remove(descriptor) }
            }
        }
    }

    /// Comes twice for a request: after its headers, and at its end.
    static var callback: MHD_AccessHandlerCallback {
        { context, connection, path, method, _, _, uploaded, state in
            guard let context = unsafe context, let path = unsafe path, let method = unsafe method,
                let uploaded = unsafe uploaded, let state = unsafe state
            else { return .NO }
            // The context is the object that the server keeps alive.
            let access = unsafe Unmanaged<HTTPAccess>.fromOpaque(context).takeUnretainedValue()
            let isServed = unsafe strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0
            guard isServed else { return unsafe HTTPAccess.send(.methodNotAllowed, on: connection) }
            // Refused before a byte of it is read.
            guard unsafe !HTTPAccess.announcesBody(connection) else {
                return unsafe HTTPAccess.send(.bodyRefused, on: connection)
            }
            if unsafe state.pointee == nil {
                // Any pointer but null: the headers were seen.
                unsafe state.pointee = context
                return .YES
            }
            guard unsafe uploaded.pointee == 0 else { return .NO }
            let request = unsafe HTTPRequest(path: String(cString: path), accept: HTTPAccess.accept(connection))
            return unsafe HTTPAccess.send(access.handler(request), on: connection)
        }
    }

    private static func announcesBody(_ connection: OpaquePointer?) -> Bool {
        if unsafe header("Transfer-Encoding", of: connection) != nil { return true }
        return unsafe header("Content-Length", of: connection).map { $0 != "0" } ?? false
    }

    private static func accept(_ connection: OpaquePointer?) -> String? { unsafe header("Accept", of: connection) }

    private static func header(_ name: String, of connection: OpaquePointer?) -> String? {
        // The text is the connection's, and copied here.
        unsafe MHD_lookup_connection_value(connection, .HEADER_KIND, name).map { unsafe String(cString: $0) }
    }

    private static func send(_ response: HTTPResponse, on connection: OpaquePointer?) -> MHD_Result {
        let body = response.body
        // The bytes are copied at once.
        let made = unsafe body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                bytes.count,
                UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                .RESPMEM_MUST_COPY
            )
        }
        guard let made = unsafe made else { return .NO }
        // The queue keeps a reference of its own.
        defer { unsafe MHD_destroy_response(made) }
        _ = unsafe MHD_add_response_header(made, MHD_HTTP_HEADER_CONTENT_TYPE, response.contentType)
        if response.status == 405 { _ = unsafe MHD_add_response_header(made, MHD_HTTP_HEADER_ALLOW, "GET, HEAD") }
        return unsafe MHD_queue_response(connection, UInt32(response.status), made)
    }
}
