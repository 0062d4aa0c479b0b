internal import CMicrohttpd
internal import Glibc

/// Reads a request's head out of the library, and how it was spelled.
///
/// The library accepts folded headers, bare line feeds, blanks around names, and bytes before a request, and does not
/// say so. But it keeps line and headers where it has received them, in one block of memory that starts at a page, and
/// only writes zeros over line ends, colons and blanks. So the distances between the pieces say what stood between them.
/// A library that lays them out otherwise would have every request refused: the tests of this module fail then.
/// Two spellings stay hidden, since the library overwrites them with zeros as it does line ends: zero bytes where line
/// ends have as many bytes, and, as the blank line, a colon with a bare line feed or carriage return before or behind
/// it. Proxies write neither. From 0.9.77 on the library refuses folded headers and bare line feeds itself: the shim turns
/// its strict mode on.
extension RequestHead {
    /// - Parameter handle: has the target as it was before the library took the query off.
    init(
        _ handle: HTTPCallHandle,
        _ method: UnsafePointer<CChar>,
        _ path: UnsafePointer<CChar>,
        _ version: UnsafePointer<CChar>
    ) {
        // The texts end with zeros, and are the connection's until its request ends.
        let methodBytes = unsafe Self.bytes(method, strlen(method))
        let versionBytes = unsafe Self.bytes(version, strlen(version))
        let (start, targetStart) = (UInt(bitPattern: method), UInt(bitPattern: path))
        let versionStart = UInt(bitPattern: version)
        let isLineStrict =
            start % UInt(sysconf(Int32(_SC_PAGESIZE))) == 0 && targetStart == start + UInt(methodBytes.count) + 1
            && versionStart == targetStart + UInt(handle.target.count) + 1
        let size = unsafe CMicrohttpd_headSize(handle.library)
        let end = start + UInt(size)
        var walk = HeaderWalk(end: versionStart + UInt(versionBytes.count), head: isLineStrict ? start..<end : 0..<0)
        // Runs at once, for each header in its order.
        _ = unsafe withUnsafeMutablePointer(to: &walk) { walk in
            unsafe MHD_get_connection_values_n(handle.library, .HEADER_KIND, HeaderWalk.callback, walk)
        }
        walk.endLine(before: end - 2)
        walk.endHead()
        self.init(
            layout: !isLineStrict ? .looseRequestLine : walk.isStrict ? .strict : .looseHeaders,
            method: methodBytes,
            target: handle.target,
            version: versionBytes,
            headers: walk.headers,
            memory: size + Self.entryBytes * walk.headers.count
        )
    }

    /// Whether a target stands behind this method, or one that ends so: the library keeps both where they came, and writes a
    /// zero between them.
    static func hasMethod(_ method: String, before target: UnsafePointer<CChar>) -> Bool {
        // Each byte but the first is read because the one behind it is the method's, and none of another page.
        let count = Int(UInt(bitPattern: target) % UInt(sysconf(Int32(_SC_PAGESIZE))))
        let before = unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(target) - count, count: count).dropLast()
        return unsafe before.count >= method.utf8.count
            && zip(before.reversed(), method.utf8.reversed()).allSatisfy { $0 == $1 }
    }

    /// The library's own entry for a header, in the same memory.
    private static let entryBytes = 64

    static func bytes(_ text: UnsafePointer<CChar>, _ count: Int) -> [UInt8] {
        // The caller knows that so many bytes are there.
        unsafe Array(UnsafeRawBufferPointer(start: text, count: count))
    }
}

/// Goes from header to header.
private struct HeaderWalk {
    /// The end of the line's last piece.
    var end: UInt
    /// All of the request's line and headers.
    let head: Range<UInt>
    var isStrict = true
    var headers: [HTTPHeader] = []

    static var callback: MHD_KeyValueIteratorN {
        { context, _, name, nameSize, value, valueSize in
            guard let walk = unsafe context?.assumingMemoryBound(to: HeaderWalk.self), let name = unsafe name else {
                return .NO
            }
            unsafe walk.pointee.add(name, nameSize, value, valueSize)
            return .YES
        }
    }

    private mutating func add(
        _ name: UnsafePointer<CChar>,
        _ nameSize: Int,
        _ value: UnsafePointer<CChar>?,
        _ valueSize: Int
    ) {
        // What is not from the head is our own: see the target's callback.
        guard head.contains(UInt(bitPattern: name)) else { return }
        guard let value = unsafe value else { return isStrict = false }
        let (start, valueStart) = (UInt(bitPattern: name), UInt(bitPattern: value))
        // A colon and blanks stand between the two; the library skipped nothing else.
        endLine(before: start)
        isStrict = isStrict && valueStart > start + UInt(nameSize)
        end = valueStart + UInt(valueSize)
        // Both have the sizes that come with them.
        let (nameBytes, bytes) = unsafe (RequestHead.bytes(name, nameSize), RequestHead.bytes(value, valueSize))
        headers.append(HTTPHeader(name: nameBytes.map(RequestHead.lowercased), value: Self.trimmed(bytes)))
    }

    /// A line's end is two bytes. Newer libraries also take blanks off a value: then they write a zero over the first of
    /// them and leave all other bytes as they came, where older ones write zeros over line ends.
    mutating func endLine(before next: UInt) {
        guard isStrict else { return }
        isStrict = next == end + 2 && isLineEnd(at: end)
        guard next > end + 2, head.contains(end), head.contains(next) else { return }
        // All bytes between the two places are the head's.
        let gap = unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: end), count: Int(next - end))
        let blanks = unsafe gap.dropFirst().dropLast(2)
        isStrict = unsafe gap[0] == 0 && blanks.allSatisfy(Self.isBlank) && gap.suffix(2).elementsEqual([0x0d, 0x0a])
    }

    /// The blank line is the head's last two bytes.
    mutating func endHead() { isStrict = isStrict && isLineEnd(at: head.upperBound - 2) }

    /// Two bytes as they came, or zeros that the library has written over them: no others, of which it says nothing either.
    private func isLineEnd(at place: UInt) -> Bool {
        guard head.contains(place), head.contains(place + 1) else { return false }
        // Both are the head's.
        let bytes = unsafe UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: place), count: 2)
        return unsafe bytes.allSatisfy { $0 == 0 || $0 == 0x0d || $0 == 0x0a }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func trimmed(_ value: [UInt8]) -> [UInt8] {
        guard let last = value.last, isBlank(last) else { return value }
        return Array(value[..<((value.lastIndex { !isBlank($0) } ?? -1) + 1)])
    }
}
