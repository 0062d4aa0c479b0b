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

    package init(key: CBORItem, value: CBORItem) {
        self.key = key
        self.value = value
    }
}

/// Why bytes are not the one strict item that was expected, and where.
package struct CBORFault: Error, Equatable, Sendable {
    package enum Code: Sendable {
        case truncated, indefiniteLength, nonMinimalHead, duplicateKey, tag, tooDeep, tooManyItems, leftover
        case invalidUTF8
        /// A map's key with more bytes than any known one.
        case keyTooLong
        /// A float, a simple value without meaning, a reserved head, or an array or map as a map's key.
        case unsupported
    }
    package let code: Code
    /// Where the faulty item's head, or the leftover, begins: an offset into the bytes given.
    package let offset: Int

    package init(code: Code, offset: Int) {
        self.code = code
        self.offset = offset
    }
}
