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
    package func values(_ name: StaticString) -> [[UInt8]] {
        // The text is constant.
        let name = unsafe UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return headers.filter { header in unsafe header.name.elementsEqual(name) }.map(\.value)
    }
}

/// A header of a request.
package struct HTTPHeader: Sendable, Equatable {
    /// A token of RFC 9110 in lower case.
    package var name: [UInt8]
    /// The value without blanks around it.
    package var value: [UInt8]

    package init(name: [UInt8], value: [UInt8]) { (self.name, self.value) = (name, value) }
}

/// An IP address of 4 or 16 bytes. An IPv4 address that came over an IPv6 socket has 4.
package struct PeerAddress: Sendable, Hashable {
    package var bytes: [UInt8]

    package init(bytes: [UInt8]) { self.bytes = bytes }
}
