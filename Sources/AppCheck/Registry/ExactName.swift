/// A name as its bytes: how names that anybody may send are looked up.
///
/// Swift compares and hashes texts by what Unicode takes for equal. That would find one name under many spellings, and
/// to bring 60 KB of combining marks into order takes it a second.
struct ExactName: Hashable, Sendable {
    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }
}

extension String {
    /// Whether both have the same bytes.
    func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
