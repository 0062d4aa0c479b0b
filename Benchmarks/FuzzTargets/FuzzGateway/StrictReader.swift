/// A request as RFC 9112 spells it, with nothing left to a reader's choice.
struct StrictRequest: Equatable {
    var method: [UInt8]
    var target: [UInt8]
    /// Names in lower case, values without blanks around them.
    var headers: [(name: [UInt8], value: [UInt8])]
    var body: [UInt8]

    static func == (left: StrictRequest, right: StrictRequest) -> Bool {
        left.method == right.method && left.target == right.target && left.body == right.body
            && left.headers.elementsEqual(right.headers, by: ==)
    }

    func values(_ name: String) -> [[UInt8]] { headers.filter { $0.name.elementsEqual(name.utf8) }.map(\.value) }

    /// The library answers 431 where the headers, for each of which it keeps an entry, leave no room.
    var isSurelyServed: Bool { headers.count <= Self.mostEntries }
    // Of 64 bytes each: half of a connection's memory.
    private static let mostEntries = 256
}

/// Reads what a client sends by the grammar alone. It shares no line with the server, so that the two can disagree.
struct StrictReader {
    /// In their order, up to the first bytes that are no request of this server's.
    private(set) var requests: [StrictRequest] = []
    /// Whether bytes remain that more bytes could make a request of.
    private(set) var isPartial = false
    /// Whether the bytes are requests and nothing else.
    private(set) var isWhole = false
    private var rest: ArraySlice<UInt8>

    private static let (tab, blank, colon, delete): (UInt8, UInt8, UInt8, UInt8) = (0x09, 0x20, 0x3A, 0x7F)

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
        while !rest.isEmpty {
            guard let lines = head() else {
                isPartial = true
                return
            }
            guard let request = Self.request(lines), let length = Self.length(request) else { return }
            guard rest.count >= length else {
                isPartial = true
                return
            }
            requests.append(request)
            requests[requests.count - 1].body = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
            if Self.isLast(lines[0], request) { break }
        }
        isWhole = rest.isEmpty
    }

    /// The lines up to a blank one, each of which ends with a carriage return and a line feed; nil = there is none yet.
    private mutating func head() -> [ArraySlice<UInt8>]? {
        let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        let last = rest.indices.first { rest[$0] == 0x0D && rest[$0...].starts(with: end) }
        guard let last else { return nil }
        var (lines, start, place) = ([ArraySlice<UInt8>](), rest.startIndex, rest.startIndex)
        while place <= last {
            if rest[place] == 0x0D, rest[place + 1] == 0x0A {
                lines.append(rest[start..<place])
                place += 2
                start = place
            } else {
                place += 1
            }
        }
        rest = rest[(last + 4)...]
        return lines
    }

    private static func request(_ lines: [ArraySlice<UInt8>]) -> StrictRequest? {
        let words = lines[0].split(separator: blank, omittingEmptySubsequences: false)
        guard words.count == 3, isServed(words[0]), let path = path(of: words[1]), isVersion(words[2]) else {
            return nil
        }
        var request = StrictRequest(method: Array(words[0]), target: path, headers: [], body: [])
        for line in lines.dropFirst() {
            guard let header = header(line) else { return nil }
            request.headers.append(header)
        }
        let hosts = request.values("host").count
        let isOld = words[2].last == UInt8(ascii: "0")
        guard hosts == 1 || (isOld && hosts == 0), request.values("host").allSatisfy(StrictHost.isHost) else {
            return nil
        }
        guard isPlain(request) else { return nil }
        return request
    }

    private static func header(_ line: ArraySlice<UInt8>) -> (name: [UInt8], value: [UInt8])? {
        guard let end = line.firstIndex(of: colon) else { return nil }
        let name = line[..<end]
        // Obsolete folding begins with a blank, which no name has.
        guard !name.isEmpty, name.allSatisfy(isTokenByte) else { return nil }
        var value = line[(end + 1)...]
        while let first = value.first, first == blank || first == tab { value = value.dropFirst() }
        while let last = value.last, last == blank || last == tab { value = value.dropLast() }
        guard value.allSatisfy({ $0 == tab || ($0 >= blank && $0 != delete) }) else { return nil }
        // The library takes no blank behind a length.
        let isBare = value.endIndex == line.endIndex
        return isBare || !name.map(lowered).elementsEqual("content-length".utf8)
            ? (name.map(lowered), Array(value)) : nil
    }

    // MARK: What this server serves of the grammar

    private static func isServed(_ method: ArraySlice<UInt8>) -> Bool {
        !method.isEmpty && method.allSatisfy(isTokenByte) && !method.elementsEqual("CONNECT".utf8)
    }

    private static func isVersion(_ text: ArraySlice<UInt8>) -> Bool {
        text.elementsEqual("HTTP/1.1".utf8) || text.elementsEqual("HTTP/1.0".utf8)
    }

    /// Of an origin form, or of a URL with a host: a fragment, control characters and bytes beyond ASCII are none.
    private static func path(of text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.allSatisfy({ $0 > blank && $0 < delete && $0 != UInt8(ascii: "#") }) else { return nil }
        let slash = UInt8(ascii: "/")
        if text.first == slash { return Array(text) }
        let parts = text.split(separator: slash, maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].isEmpty,
            ["http:", "https:"].contains(where: { parts[0].map(lowered).elementsEqual($0.utf8) })
        else { return nil }
        let host = Array(parts[2].prefix { $0 != slash && $0 != UInt8(ascii: "?") })
        guard let first = host.first, first != colon, StrictHost.isHost(host) else { return nil }
        let path = parts[2].dropFirst(host.count)
        return path.first == slash ? Array(path) : [slash] + path
    }

    private static func isPlain(_ request: StrictRequest) -> Bool {
        let expectations = request.values("expect").map { $0.map(lowered) }
        let upgrades = request.values("upgrade").map { $0.map(lowered) }
        return request.values("transfer-encoding").isEmpty && expectations.count <= 1
            && expectations.allSatisfy { $0.elementsEqual("100-continue".utf8) }
            && upgrades.allSatisfy { $0.elementsEqual("h2c".utf8) }
    }

    /// The body's bytes; nil = several lengths, no number, more than is served, or a body of GET.
    private static func length(_ request: StrictRequest) -> Int? {
        let values = request.values("content-length")
        guard let text = values.first else { return 0 }
        guard values.count == 1, !text.isEmpty, text.count <= 18, text.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        let length = text.reduce(0) { 10 * $0 + Int($1 - 0x30) }
        let isBare = ["GET", "HEAD"].contains { request.method.elementsEqual($0.utf8) }
        let isCoded = request.values("content-encoding").contains {
            !$0.isEmpty && !$0.map(lowered).elementsEqual("identity".utf8)
        }
        return length <= 65_536 && (length == 0 || !(isBare || isCoded)) ? length : nil
    }

    /// Whether the connection ends with the answer.
    private static func isLast(_ line: ArraySlice<UInt8>, _ request: StrictRequest) -> Bool {
        let options = request.values("connection").flatMap { $0.split(separator: UInt8(ascii: ",")) }
        let isClosed = options.contains { option in
            option.filter { $0 != blank && $0 != tab }.map(lowered).elementsEqual("close".utf8)
        }
        return line.last == UInt8(ascii: "0") || isClosed
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte + 0x20 : byte
    }

    /// `tchar` of RFC 9110.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
        default: false
        }
    }
}
