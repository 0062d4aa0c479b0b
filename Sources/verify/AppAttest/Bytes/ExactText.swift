/// A text from a record: UTF-8 that is compared, hashed and looked up as its bytes.
///
/// Swift compares and hashes `String` by Unicode equality. That finds one text under many spellings, and normalizing 8
/// KB of combining marks takes 20 ms. So no text of a record becomes a `String` on the way to a verdict.
package struct ExactText: Hashable, Sendable {
    /// Valid UTF-8.
    package let utf8: [UInt8]

    package init(_ text: String) { utf8 = Array(text.utf8) }

    /// - Returns: nil unless `bytes` are UTF-8.
    package init?(validating bytes: [UInt8]) {
        guard (try? UTF8Span(validating: bytes.span)) != nil else { return nil }
        utf8 = bytes
    }

    /// The text as a `String`, for reports and files that people read.
    package var shown: String { String(decoding: utf8, as: UTF8.self) }

    /// Orders texts by their bytes, for a fixed order of lists.
    package static func isBefore(_ left: ExactText, _ right: ExactText) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

extension ExactText: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, CustomStringConvertible {
    package init(stringLiteral text: String) { self.init(text) }
    package var description: String { shown }
}
