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
