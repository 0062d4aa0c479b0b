internal import CMicrohttpd
internal import Glibc

/// A request that has arrived whole, as its bytes were sent: nothing is decoded.
package struct HTTPCall: Sendable {
    /// Such as `POST`, in the sender's spelling.
    package var method: [UInt8]
    /// Path and query, percent-encoded as sent.
    package var target: [UInt8]
    /// The headers in their order; a name may come several times.
    package var headers: [HTTPHeader]
    package var body: [UInt8]
    package var peer: PeerAddress

    package init(method: [UInt8], target: [UInt8], headers: [HTTPHeader], body: [UInt8], peer: PeerAddress) {
        (self.method, self.target, self.headers, self.body, self.peer) = (method, target, headers, body, peer)
    }

    /// The values of the headers of this name, in their order.
    ///
    /// - Parameter name: in lower case.
    package func values(_ name: String) -> [[UInt8]] { headers.values(name) }
}

/// A header of a request.
package struct HTTPHeader: Sendable, Equatable {
    /// A token of RFC 9110 in lower case.
    package var name: [UInt8]
    /// The value without blanks around it.
    package var value: [UInt8]

    package init(name: [UInt8], value: [UInt8]) { (self.name, self.value) = (name, value) }
}

extension [HTTPHeader] {
    func values(_ name: String) -> [[UInt8]] { filter { $0.name.elementsEqual(name.utf8) }.map(\.value) }
}

/// An IP address of 4 or 16 bytes. An IPv4 address that came over an IPv6 socket has 4.
package struct PeerAddress: Sendable, Hashable {
    package var bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// - Parameter address: of either kind; any other gives no bytes.
    init(_ address: UnsafePointer<sockaddr>?) {
        func part(_ place: Range<Int>) -> [UInt8] {
            unsafe Array(UnsafeRawBufferPointer(start: address, count: place.upperBound)[place])
        }
        // The family says how much is there.
        switch unsafe address.map({ unsafe Int32($0.pointee.sa_family) }) ?? AF_UNSPEC {
        case AF_INET: self.init(bytes: part(4..<8))
        case AF_INET6: self.init(bytes: Self.plain(part(8..<24)))
        default: self.init(bytes: [])
        }
    }

    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// The bytes of an address: an IPv4 one that is written as one of IPv6 is the same address.
    package static func plain(_ bytes: [UInt8]) -> [UInt8] {
        bytes.count == 16 && bytes.starts(with: mapped) ? Array(bytes[12...]) : bytes
    }
}
