internal import CMicrohttpd
internal import Glibc

/// A bound TCP socket that listens. Closed with this value.
struct ListeningSocket: ~Copyable {
    let descriptor: Int32

    private init(takingOwnershipOf descriptor: Int32) { self.descriptor = descriptor }

    /// - Parameters:
    ///   - address: an IPv4 or IPv6 address in digits; `::` serves both.
    ///   - backlog: connections that the kernel keeps until they are accepted; its own limit holds too.
    static func open(address: String, port: UInt16, backlog: Int32 = 128) throws(HTTPFault) -> ListeningSocket {
        var hints = unsafe addrinfo()
        var found: UnsafeMutablePointer<addrinfo>?
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        unsafe hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        // The list is the library's, and is freed below.
        let code = unsafe getaddrinfo(address, String(port), &hints, &found)
        guard code == 0, let entry = unsafe found?.pointee else {
            throw HTTPFault("\(address) is not an IP address")
        }
        defer { unsafe freeaddrinfo(found) }
        let place = "\(address), port \(port)"
        // The entry is valid until the list is freed.
        let descriptor = unsafe socket(entry.ai_family, entry.ai_socktype | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw fault("no socket can be made for \(place)") }
        let listener = ListeningSocket(takingOwnershipOf: descriptor)
        var yes: Int32 = 1
        // After a restart the port is free although old connections linger; two servers cannot share it.
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        if unsafe entry.ai_family == AF_INET6 {
            var no: Int32 = 0
            // Both kinds of addresses, whatever the machine's default is.
            _ = unsafe setsockopt(
                descriptor,
                Int32(IPPROTO_IPV6),
                IPV6_V6ONLY,
                &no,
                socklen_t(MemoryLayout<Int32>.size)
            )
        }
        // The address is the entry's own.
        guard unsafe bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0, listen(descriptor, backlog) == 0
        else { throw fault("nothing can listen on \(place)") }
        return listener
    }

    deinit { close(descriptor) }

    /// The port that the kernel chose, where 0 was asked for.
    var port: UInt16 {
        var (address, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
        // The structure has room for every kind of address; both kinds have the port behind the family.
        return unsafe withUnsafeMutableBytes(of: &address) { bytes in
            let known = unsafe bytes.baseAddress.map { base in
                unsafe getsockname(descriptor, base.assumingMemoryBound(to: sockaddr.self), &length)
            }
            guard known == 0 else { return 0 }
            return unsafe UInt16(bytes[2]) << 8 | UInt16(bytes[3])
        }
    }

    /// Hands the descriptor to a new owner.
    consuming func release() -> Int32 {
        let descriptor = descriptor
        discard self
        return descriptor
    }

    private static func fault(_ problem: String) -> HTTPFault {
        // The text is static, or the thread's own until the next call.
        unsafe HTTPFault("\(problem): \(String(cString: strerror(errno)))")
    }
}
