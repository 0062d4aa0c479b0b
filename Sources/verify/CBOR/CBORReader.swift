internal import CLibCBOR

/// Strict reading on libcbor's streaming decoder: one item, definite lengths, minimal heads, no duplicate keys, no
/// tags, no floats, no trailing bytes, limits on depth and items.
package enum CBORReader {
    /// - Parameters:
    ///   - range: the part of `bytes` that must be exactly one item; ranges in the result are offsets into `bytes`.
    ///   - maxDepth: nesting levels allowed (a bare item has depth 1), at most 64.
    ///   - maxItems: data items allowed, containers and keys counted.
    package static func read(
        _ bytes: Span<UInt8>,
        in range: Range<Int>,
        maxDepth: Int = 8,
        maxItems: Int = 256
    ) throws(CBORFault) -> CBORItem {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "the range lies in the bytes")
        precondition(maxDepth <= 64, "nesting is read by recursion")
        var state = State(offset: range.lowerBound, end: range.upperBound, itemsLeft: maxItems)
        let item = try item(bytes, &state, depthLeft: maxDepth)
        guard state.offset == state.end else { throw CBORFault(code: .trailingBytes, offset: state.offset) }
        return item
    }

    /// Apple's longest key has 28 bytes.
    private static let maxKeyBytes = 128

    private struct State {
        var offset: Int
        let end: Int
        var itemsLeft: Int

        var remaining: Int { end - offset }
    }

    private static func item(
        _ bytes: Span<UInt8>,
        _ state: inout State,
        depthLeft: Int
    ) throws(CBORFault) -> CBORItem {
        let start = state.offset
        guard depthLeft > 0 else { throw CBORFault(code: .tooDeep, offset: start) }
        guard state.itemsLeft > 0 else { throw CBORFault(code: .tooManyItems, offset: start) }
        state.itemsLeft -= 1
        let head = try CBORHead(bytes, at: start, end: state.end)
        state.offset += head.byteCount
        switch head.kind {
        case CLibCBOR_unsigned: return .unsigned(head.value)
        case CLibCBOR_negative: return .negative(head.value)
        case CLibCBOR_simple: return .simple(UInt8(truncatingIfNeeded: head.value))
        case CLibCBOR_bytes: return .bytes(head.payload(endingAt: state.offset))
        case CLibCBOR_text:
            let range = head.payload(endingAt: state.offset)
            guard (try? UTF8Span(validating: bytes.extracting(range))) != nil else {
                throw CBORFault(code: .invalidUTF8, offset: start)
            }
            return .text(range)
        case CLibCBOR_array:
            let count = try count(of: head, itemsEach: 1, at: start, state)
            return try .array(elements(bytes, &state, count: count, depthLeft: depthLeft - 1))
        case CLibCBOR_map:
            let count = try count(of: head, itemsEach: 2, at: start, state)
            return try .map(entries(bytes, &state, count: count, depthLeft: depthLeft - 1))
        default: throw CBORFault(code: .unsupported, offset: start)
        }
    }

    /// The claimed count, checked against the bytes and items that are left before anything is allocated for it.
    private static func count(
        of head: CBORHead,
        itemsEach: Int,
        at start: Int,
        _ state: State
    ) throws(CBORFault) -> Int {
        // Every item takes a byte at least.
        guard let count = Int(exactly: head.value), count <= state.remaining / itemsEach else {
            throw CBORFault(code: .truncated, offset: start)
        }
        guard count <= state.itemsLeft / itemsEach else { throw CBORFault(code: .tooManyItems, offset: start) }
        return count
    }

    private static func elements(
        _ bytes: Span<UInt8>,
        _ state: inout State,
        count: Int,
        depthLeft: Int
    ) throws(CBORFault) -> [CBORItem] {
        var elements: [CBORItem] = []
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try item(bytes, &state, depthLeft: depthLeft)) }
        return elements
    }

    private static func entries(
        _ bytes: Span<UInt8>,
        _ state: inout State,
        count: Int,
        depthLeft: Int
    ) throws(CBORFault) -> [CBOREntry] {
        var entries: [CBOREntry] = []
        entries.reserveCapacity(count)
        var keys = KeySet(capacity: count)
        for _ in 0..<count {
            let start = state.offset
            let key = try item(bytes, &state, depthLeft: depthLeft)
            switch key {
            case .array, .map: throw CBORFault(code: .unsupported, offset: start)
            default: break
            }
            guard state.offset - start <= maxKeyBytes else { throw CBORFault(code: .keyTooLong, offset: start) }
            guard keys.insert(start..<state.offset, bytes) else { throw CBORFault(code: .duplicateKey, offset: start) }
            let value = try item(bytes, &state, depthLeft: depthLeft)
            entries.append(CBOREntry(key: key, value: value))
        }
        return entries
    }
}

/// Why bytes are not the one strict item that was expected, and where.
package struct CBORFault: Error, Equatable, Sendable {
    package enum Code: Sendable {
        case truncated, indefiniteLength, nonMinimalHead, duplicateKey, tag, tooDeep, tooManyItems, trailingBytes
        case invalidUTF8
        /// A map's key with more bytes than any known one.
        case keyTooLong
        /// A float, a simple value without meaning, a reserved head, or an array or map as a map's key.
        case unsupported
    }
    package let code: Code
    /// The offset of the faulty item's head, or of the trailing bytes, in the bytes given.
    package let offset: Int

    package init(code: Code, offset: Int) { (self.code, self.offset) = (code, offset) }
}

/// One decoded data item of a device object (RFC 8949), with ranges into the input instead of copies.
package enum CBORItem: Sendable, Equatable {
    case unsigned(UInt64)
    /// −1 − n, as RFC 8949 writes major type 1.
    case negative(UInt64)
    case bytes(Range<Int>)
    case text(Range<Int>)
    case array([CBORItem])
    case map([CBOREntry])
    /// false (20), true (21), null (22) or undefined (23); other simple values are refused.
    case simple(UInt8)
}

package struct CBOREntry: Sendable, Equatable {
    package let key: CBORItem
    package let value: CBORItem

    package init(key: CBORItem, value: CBORItem) { (self.key, self.value) = (key, value) }
}
