/// A request's line and headers, as sent, with what the library's reading of them left open.
struct RequestHead: Equatable {
    /// How a request's bytes lie in memory: any spelling but the strict one leaves gaps.
    enum Layout { case strict, looseRequestLine, looseHeaders }

    var layout: Layout
    var method: [UInt8]
    var target: [UInt8]
    var version: [UInt8]
    var headers: [HTTPHeader]
    /// The share of line and headers in the connection's memory.
    var memory: Int

    /// nil = it goes to the handler once its body is here.
    func refusal(_ limits: HTTPCallLimits) -> HTTPRefusalKind? {
        // Where they take more, no room may be left for the head of any answer.
        guard memory <= limits.headerBytes else { return .headerSize }
        if let malformation { return malformation }
        guard limits.bodyBytes > 0 || isBodiless else { return .method }
        return framing ?? unserved(limits.bodyBytes)
    }

    /// Path and query; nil = the target has no path.
    var origin: [UInt8]? { TargetForm.origin(target) }

    var isOld: Bool { version.elementsEqual("HTTP/1.0".utf8) }

    /// The body's bytes; nil = not a number.
    var length: Int? {
        guard let value = headers.values("content-length").first else { return 0 }
        guard value.count <= Self.mostDigits, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(String(decoding: value, as: UTF8.self))
    }
    // Fits an integer without overflow.
    private static let mostDigits = 18

    var expectsContinue: Bool { headers.values("expect").contains { Self.equal($0, "100-continue") } }

    /// Faults that RFC 9112 calls malformed, wherever they stand.
    private var malformation: HTTPRefusalKind? {
        guard layout != .looseRequestLine else { return .requestLine }
        guard isOld || version.elementsEqual("HTTP/1.1".utf8) else { return .version }
        guard layout == .strict, headers.allSatisfy(Self.isSound) else { return .header }
        guard Self.isToken(method) else { return .requestLine }
        let hosts = headers.values("host")
        guard hosts.count == 1 || (hosts.isEmpty && isOld) else { return .host }
        return hosts.allSatisfy(HostValue.isSound) ? nil : .host
    }

    private var framing: HTTPRefusalKind? {
        let lengths = headers.values("content-length")
        guard headers.values("transfer-encoding").isEmpty else { return lengths.isEmpty ? .lengthRequired : .framing }
        return lengths.count <= 1 && length != nil ? nil : .framing
    }

    private func unserved(_ bodyBytes: Int) -> HTTPRefusalKind? {
        let isOfServer = method.elementsEqual("OPTIONS".utf8) && target.elementsEqual("*".utf8)
        guard !isOfServer, !method.elementsEqual("CONNECT".utf8) else { return .method }
        guard origin != nil else { return .target }
        guard let length, !isBodiless || length == 0 else { return .unexpectedBody }
        // Without a body the header says nothing.
        let isPlain = headers.values("content-encoding").allSatisfy { $0.isEmpty || Self.equal($0, "identity") }
        guard isPlain || length == 0 else { return .contentEncoding }
        let expectations = headers.values("expect")
        guard expectations.isEmpty || (expectations.count == 1 && expectsContinue) else { return .expectation }
        return length <= bodyBytes ? nil : .bodySize
    }

    private var isBodiless: Bool { method.elementsEqual("GET".utf8) || method.elementsEqual("HEAD".utf8) }

    static func equal(_ bytes: [UInt8], _ text: String) -> Bool {
        bytes.map(lowercased).elementsEqual(text.utf8)
    }

    static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    private static func isSound(_ header: HTTPHeader) -> Bool {
        isToken(header.name) && header.value.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
    }

    private static func isToken(_ bytes: [UInt8]) -> Bool { !bytes.isEmpty && bytes.allSatisfy { tokenBytes[Int($0)] } }

    private static let tokenBytes: [Bool] = (0...255).map { byte in
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8.contains(UInt8(byte))
    }
}
