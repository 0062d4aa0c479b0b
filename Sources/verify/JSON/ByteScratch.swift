/// Room for one text after another, so that none needs its own array.
package struct ByteScratch {
    /// A longer text is not worth the room that it would keep.
    private static let mostBytes = 1 << 20

    private var storage: [UInt8] = []
    private var count = 0

    package init() {}

    /// The text that was put in last.
    @inline(__always)
    package func withBytes<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
        body(storage.span.extracting(..<count))
    }

    /// Takes in the string whose content starts at `start`, two-character escapes resolved.
    ///
    /// - Returns: where its closing quote is; nil for a text that is too long, never ends, or has other escapes or
    ///   control characters.
    mutating func unescape(_ text: Span<UInt8>, from start: Int) -> Int? {
        guard text.count - start <= Self.mostBytes else { return nil }
        if storage.count < text.count - start {
            storage = [UInt8](repeating: 0, count: max(2 * (text.count - start), 4096))
        }
        var stop: Int?
        // The target has room for the rest of the text, and no string is longer unescaped than it is written.
        count = unsafe storage.withUnsafeMutableBufferPointer {
            unsafe ByteScan.unescapeString(text, from: start, into: $0, stop: &stop)
        }
        return stop
    }
}
