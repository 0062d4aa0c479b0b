internal import CBOR

extension [CBOREntry] {
    /// The value of the member with this text key; keys are unique, as the reader has checked.
    func value(of name: String, _ bytes: Span<UInt8>) -> CBORItem? {
        for entry in self {
            if case .text(let key) = entry.key, bytes.holds(name, in: key) { return entry.value }
        }
        return nil
    }
}
