internal import CMicrohttpd
internal import Glibc

/// Answers to the library's questions about one call, on the server's thread.
@safe struct HTTPCallSender {
    let calls: HTTPCallTable
    let handle: HTTPCallHandle
    let connection: OpaquePointer

    func judge(_ head: RequestHead) -> MHD_Result {
        calls.judge(handle, head).map(refuse) ?? .YES
    }

    func hand() -> MHD_Result {
        // The address is the connection's.
        let peer = unsafe PeerAddress(CMicrohttpd_peer(connection))
        return calls.hand(handle, peer: peer).map(refuse) ?? answer()
    }

    /// Sends the answer, or suspends the connection until there is one.
    func answer() -> MHD_Result {
        guard let reply = unsafe handle.answerOrSuspend(connection, calls.wakeup) else { return .YES }
        if hasLeft { calls.noteGone() }
        return send(reply)
    }

    private func refuse(_ refusal: HTTPRefusal) -> MHD_Result {
        // The connection ends without another answer.
        if handle.connection.hasSaidLast { return .NO }
        // The headers may have left the library no room for its answer's head.
        guard refusal.kind == .headerSize else { return send(calls.counted(refusal)) }
        calls.answerPast(handle, refusal)
        return .NO
    }

    /// Whether the client has closed its side. The answer is sent all the same: some close only their half and may get it.
    private var hasLeft: Bool {
        var byte: UInt8 = 0
        // At most one byte is looked at, and stays.
        return unsafe recv(handle.connection.descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
    }

    private func send(_ reply: HTTPReply) -> MHD_Result {
        precondition(HTTPReply.statuses.contains(reply.status), "an answer has a final status")
        handle.stage = .answered
        calls.connections.sends(handle.connection)
        guard let made = unsafe response(reply) else { return .NO }
        // The queue keeps a reference of its own.
        defer { unsafe MHD_destroy_response(made) }
        for (name, value) in reply.namedHeaders {
            // Refuses line ends within both.
            let isAdded = unsafe MHD_add_response_header(made, name, value) == .YES
            precondition(isAdded, "a header of an answer is one line")
        }
        if calls.closes(reply, handle) {
            _ = unsafe MHD_add_response_header(made, MHD_HTTP_HEADER_CONNECTION, "close")
        }
        return unsafe MHD_queue_response(connection, UInt32(reply.status), made)
    }

    private func response(_ reply: HTTPReply) -> OpaquePointer? {
        guard reply.pace == .free else { return unsafe PacedBody.response(reply, connection, calls.drips) }
        // The bytes are copied at once.
        return unsafe reply.body.withUnsafeBytes { bytes in
            unsafe MHD_create_response_from_buffer(
                bytes.count,
                UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                .RESPMEM_MUST_COPY
            )
        }
    }
}

extension PeerAddress {
    /// - Parameter address: of either kind; any other gives no bytes.
    init(_ address: UnsafePointer<sockaddr>?) {
        guard let address = unsafe address else {
            self.init(bytes: [])
            return
        }
        // The family says how much is there.
        switch unsafe Int32(address.pointee.sa_family) {
        case AF_INET:
            let bytes = unsafe UnsafeRawBufferPointer(start: address, count: MemoryLayout<sockaddr_in>.size)
            self.init(bytes: unsafe Array(bytes[4..<8]))
        case AF_INET6:
            let bytes = unsafe UnsafeRawBufferPointer(start: address, count: MemoryLayout<sockaddr_in6>.size)
            let all = unsafe Array(bytes[8..<24])
            let isMapped = all[..<10].allSatisfy { $0 == 0 } && all[10] == 0xff && all[11] == 0xff
            self.init(bytes: isMapped ? Array(all[12...]) : all)
        default: self.init(bytes: [])
        }
    }
}
