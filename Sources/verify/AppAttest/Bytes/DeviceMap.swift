internal import CBOR

/// The map that an assertion or its extension data is.
enum DeviceMap {
    case plain(CBORPlainMap)
    /// A map with members that only the strict reader understands.
    case tree([CBOREntry])

    /// - Returns: nil unless the bytes of `range` are exactly one map.
    init?(_ bytes: Span<UInt8>, in range: Range<Int>) {
        if let map = CBORPlainMap(bytes, in: range) {
            self = .plain(map)
        } else if case .map(let entries)? = try? CBORReader.read(bytes, in: range) {
            self = .tree(entries)
        } else {
            return nil
        }
    }

    func value(of name: String, _ bytes: Span<UInt8>) -> CBORItem? {
        switch self {
        case .plain(let map): map.value(of: name, bytes)
        case .tree(let entries): entries.value(of: name, bytes)
        }
    }
}

extension [CBOREntry] {
    /// The value of the member with this text key; keys are unique, as the reader has checked.
    func value(of name: String, _ bytes: Span<UInt8>) -> CBORItem? {
        for entry in self {
            if case .text(let key) = entry.key, bytes.holds(name, in: key) { return entry.value }
        }
        return nil
    }
}
