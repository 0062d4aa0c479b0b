internal import HTTP

/// RFC 9112 read by a reader that shares nothing with the server's: every byte is consumed by one rule of the grammar,
/// and what no rule takes ends the connection.
package struct StrictReader {
    private let bytes: [UInt8]
    private var place = 0

    /// A request that a handler may see.
    package struct Request {
        var method: [UInt8] = []
        var target: [UInt8] = []
        var headers: [HTTPHeader] = []
        var body: [UInt8] = []
        /// No request may follow it on its connection.
        var isLast = false
        /// What its head takes of a connection's memory: 64 bytes for each header beside its own.
        var memory = 0
    }

    /// What no rule takes.
    private struct Broken: Error {}

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The requests of a connection up to the first that is malformed, incomplete or not served.
    package static func requests(in bytes: [UInt8]) -> [Request] {
        var reader = StrictReader(bytes)
        var requests: [Request] = []
        while let request = try? reader.request() {
            requests.append(request)
            if request.isLast { break }
        }
        return requests
    }

    // MARK: Section 2 and 3

    private mutating func request() throws(Broken) -> Request {
        var request = Request()
        let start = place
        request.method = try some(Self.isTokenByte)
        try take(" ")
        request.target = try some { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "#") }
        try take(" HTTP/1.")
        let isOld = next == UInt8(ascii: "0")
        try take(isOld ? "0\r\n" : "1\r\n")
        while next != 0x0d { request.headers.append(try field()) }
        try take("\r\n")
        request.memory = place - start + 64 * request.headers.count
        guard !request.method.elementsEqual("CONNECT".utf8) else { throw Broken() }
        request.target = try Self.path(of: request.target)
        try judge(request.headers, isOld: isOld)
        let length = try length(request.headers)
        let isBare = ["GET", "HEAD"].contains { request.method.elementsEqual($0.utf8) }
        let isCoded = Self.values("content-encoding", request.headers).contains {
            !$0.isEmpty && !$0.map(Self.small).elementsEqual("identity".utf8)
        }
        guard length <= HostileWorld.limits.bodyBytes, length == 0 || !(isBare || isCoded),
            length <= bytes.count - place
        else { throw Broken() }
        request.body = Array(bytes[place..<place + length])
        place += length
        request.isLast = isOld || closes(request.headers)
        return request
    }

    // MARK: Section 5

    private mutating func field() throws(Broken) -> HTTPHeader {
        let name = try some(Self.isTokenByte)
        try take(":")
        var value: [UInt8] = []
        while let byte = next, byte != 0x0d {
            guard byte == 0x09 || (byte >= 0x20 && byte != 0x7f) else { throw Broken() }
            value.append(byte)
            place += 1
        }
        try take("\r\n")
        // The library refuses blanks behind a length, as a careful reader may.
        let isLength = name.map(Self.small).elementsEqual("content-length".utf8)
        guard !isLength || value.last != 0x20 && value.last != 0x09 else { throw Broken() }
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        return HTTPHeader(name: name.map(Self.small), value: Array(value.drop(while: isBlank)))
    }

    private func judge(_ headers: [HTTPHeader], isOld: Bool) throws(Broken) {
        let hosts = Self.values("host", headers)
        guard hosts.count == 1 || (isOld && hosts.isEmpty), hosts.allSatisfy(HostGrammar.isHost),
            Self.values("transfer-encoding", headers).isEmpty
        else { throw Broken() }
        let expectations = Self.values("expect", headers)
        guard expectations.count <= 1,
            expectations.allSatisfy({ $0.map(Self.small).elementsEqual("100-continue".utf8) })
        else { throw Broken() }
    }

    // MARK: Section 3.2

    /// Of a path, or of a URL that names a host.
    private static func path(of target: [UInt8]) throws(Broken) -> [UInt8] {
        if target.first == UInt8(ascii: "/") { return target }
        let text = String(decoding: target, as: UTF8.self)
        for scheme in ["http://", "https://"] where text.lowercased().hasPrefix(scheme) {
            let rest = target.dropFirst(scheme.utf8.count)
            let host = Array(rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") })
            guard let first = host.first, first != UInt8(ascii: ":"), HostGrammar.isHost(host) else { throw Broken() }
            let path = Array(rest.dropFirst(host.count))
            return path.first == UInt8(ascii: "/") ? path : [UInt8(ascii: "/")] + path
        }
        throw Broken()
    }

    // MARK: Section 6

    private func length(_ headers: [HTTPHeader]) throws(Broken) -> Int {
        let lengths = Self.values("content-length", headers)
        guard let digits = lengths.first else { return 0 }
        guard lengths.count == 1, !digits.isEmpty, digits.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let length = Int(String(decoding: digits, as: UTF8.self))
        else { throw Broken() }
        return length
    }

    /// Section 9.6.
    private func closes(_ headers: [HTTPHeader]) -> Bool {
        Self.values("connection", headers).contains { value in
            value.map(Self.small).split(separator: UInt8(ascii: ",")).contains { option in
                option.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 }).first?.elementsEqual("close".utf8) ?? false
            }
        }
    }

    // MARK: Bytes

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ text: StaticString) throws(Broken) {
        for byte in "\(text)".utf8 {
            guard next == byte else { throw Broken() }
            place += 1
        }
    }

    /// At least one byte.
    private mutating func some(_ isTaken: (UInt8) -> Bool) throws(Broken) -> [UInt8] {
        let start = place
        while let byte = next, isTaken(byte) { place += 1 }
        guard place > start else { throw Broken() }
        return Array(bytes[start..<place])
    }

    private static func values(_ name: String, _ headers: [HTTPHeader]) -> [[UInt8]] {
        headers.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }

    private static func small(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x21, 0x23...0x27, 0x2a, 0x2b, 0x2d, 0x2e, 0x5e...0x60, 0x7c, 0x7e:
            true
        default: false
        }
    }
}

/// `uri-host [ ":" port ]` of RFC 9110, 7.2; between brackets the letters of an address are enough.
private enum HostGrammar {
    static func isHost(_ value: [UInt8]) -> Bool {
        var rest = value[...]
        if rest.first == UInt8(ascii: "[") {
            guard let end = rest.firstIndex(of: UInt8(ascii: "]")), end > 1,
                rest[1..<end].allSatisfy({ isName($0) || $0 == UInt8(ascii: ":") })
            else { return false }
            rest = rest[(end + 1)...]
        } else {
            while let byte = rest.first, byte != UInt8(ascii: ":") {
                if byte == UInt8(ascii: "%") {
                    guard rest.count >= 3, rest.dropFirst().prefix(2).allSatisfy(isHexDigit) else { return false }
                    rest = rest.dropFirst(3)
                } else {
                    guard isName(byte) else { return false }
                    rest = rest.dropFirst()
                }
            }
        }
        return rest.isEmpty || (rest.first == UInt8(ascii: ":") && rest.dropFirst().allSatisfy { (0x30...0x39) ~= $0 })
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { Character(UnicodeScalar(byte)).isHexDigit && byte < 0x80 }

    /// `unreserved` and `sub-delims`.
    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "-._~!$&'()*+,;=".utf8.contains(byte)
        }
    }
}
