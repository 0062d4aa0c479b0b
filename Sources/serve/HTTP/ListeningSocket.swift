internal import CMicrohttpd
internal import Glibc

/// A bound TCP socket that listens. Closed with this value.
struct ListeningSocket: ~Copyable {
    let descriptor: Int32

    private init(takingOwnershipOf descriptor: Int32) { self.descriptor = descriptor }

    /// Connections that the kernel keeps until they are accepted; its own limit holds too.
    private static let backlog: Int32 = 4_096

    /// - Parameter address: an IPv4 or IPv6 address in digits; `::` serves both.
    static func open(address: String, port: UInt16) throws(HTTPFault) -> ListeningSocket {
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
        // After a restart the port is free although old connections linger; two servers cannot share it.
        listener.set(SOL_SOCKET, SO_REUSEADDR, 1)
        // Both kinds of addresses, whatever the machine's default is.
        if unsafe entry.ai_family == AF_INET6 { listener.set(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        // The address is the entry's own.
        guard unsafe bind(descriptor, entry.ai_addr, entry.ai_addrlen) == 0, listen(descriptor, backlog) == 0
        else { throw fault("nothing can listen on \(place)") }
        return listener
    }

    deinit { close(descriptor) }

    private func set(_ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

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
