/// Appends JSON to a byte buffer: compact, members in the order written, strings escaped minimally as RFC 8259 asks.
package struct JSONWriter: Sendable {
    /// The first ``count`` bytes are written, the others are room: a write is a comparison and a copy.
    private var storage: [UInt8]
    private var count: Int
    /// Whether the open container has a value before this place.
    private var needsComma = false

    package init(capacity: Int = 512) {
        // Room is written before it is read, so it is not zeroed.
        storage = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { $1 = capacity }
        count = 0
    }

    /// Appends to what `buffer` holds already; take it back with ``takeBytes()``.
    package init(appendingTo buffer: consuming [UInt8]) {
        count = buffer.count
        storage = buffer
    }

    /// Bytes of room that are not written yet: bounded, whatever stands before them.
    package var room: Int { storage.count - count }

    /// A copy of what was written so far.
    package var bytes: [UInt8] { Bytes.copy(storage.span.extracting(..<count)) }

    /// Forgets what was written and keeps the room.
    package mutating func restart() { (count, needsComma) = (0, false) }

    /// Hands over what was written, without a copy; the writer is empty afterwards.
    package mutating func takeBytes() -> [UInt8] {
        var taken: [UInt8] = []
        swap(&taken, &storage)
        taken.removeLast(taken.count - count)
        count = 0
        needsComma = false
        return taken
    }

    // The writer adds the commas: `beginObject(); key("a"); value(1); key("b"); string(…); endObject()`.
    package mutating func beginObject() { open(UInt8(ascii: "{")) }
    package mutating func endObject() { close(UInt8(ascii: "}")) }
    package mutating func beginArray() { open(UInt8(ascii: "[")) }
    package mutating func endArray() { close(UInt8(ascii: "]")) }

    /// `name` is ASCII and needs no escape.
    package mutating func key(_ name: StaticString) {
        separate()
        // A static string's buffer is never freed.
        name.withUTF8Buffer { name in
            unsafe write(name.count + 3) { target in
                unsafe target[0] = UInt8(ascii: "\"")
                _ = unsafe UnsafeMutableBufferPointer(rebasing: target[1...]).update(fromContentsOf: name)
                unsafe target[name.count + 1] = UInt8(ascii: "\"")
                unsafe target[name.count + 2] = UInt8(ascii: ":")
                return name.count + 3
            }
        }
        needsComma = false
    }

    package mutating func member(_ name: StaticString, _ text: String) {
        key(name)
        string(text)
    }

    package mutating func member(_ name: StaticString, validUTF8 utf8: [UInt8]) {
        key(name)
        string(validUTF8: utf8)
    }

    package mutating func member(_ name: StaticString, utf8: [UInt8]) {
        key(name)
        string(utf8: utf8)
    }

    package mutating func member(_ name: StaticString, base64 bytes: [UInt8]) {
        key(name)
        base64(bytes)
    }

    package mutating func member(_ name: StaticString, raw json: [UInt8]) {
        key(name)
        raw(json)
    }

    package mutating func member(_ name: StaticString, _ flag: Bool) {
        key(name)
        value(flag)
    }

    package mutating func member(_ name: StaticString, _ integer: some FixedWidthInteger) {
        key(name)
        if let small = Int64(exactly: integer) { value(small) } else { value(integer) }
    }

    /// Text of the syntax as it stands, commas and names included: fewer and larger pieces than member by member.
    ///
    /// - Parameter endsValue: whether the next key or value needs a comma.
    package mutating func syntax(_ text: StaticString, endsValue: Bool = false) {
        // A static string's buffer is never freed.
        text.withUTF8Buffer { text in
            unsafe write(text.count) { target in
                _ = unsafe target.update(fromContentsOf: text)
                return text.count
            }
        }
        needsComma = endsValue
    }

    package mutating func key(named name: String) {
        separate()
        appendQuoted(name.utf8Span.span, isValid: true)
        append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func value(_ integer: some FixedWidthInteger) {
        separate()
        guard let small = Int64(exactly: integer), small >= 0 else { return append(Array(String(integer).utf8).span) }
        appendDecimal(UInt64(small))
    }

    // The common types need no generic code at run time.
    package mutating func value(_ integer: Int) { value(number: Int64(integer)) }
    package mutating func value(_ integer: Int32) { value(number: Int64(integer)) }
    package mutating func value(_ integer: UInt32) { value(number: Int64(integer)) }
    package mutating func value(_ integer: Int64) { value(number: integer) }

    private mutating func value(number: Int64) {
        separate()
        guard number >= 0 else { return append(Array(String(number).utf8).span) }
        appendDecimal(UInt64(number))
    }

    package mutating func value(_ flag: Bool) {
        separate()
        append((flag ? "true" : "false").utf8Span.span)
    }

    package mutating func null() {
        separate()
        append("null".utf8Span.span)
    }

    package mutating func string(_ text: String) {
        separate()
        appendQuoted(text.utf8Span.span, isValid: true)
    }

    /// `utf8` is valid UTF-8, as the caller has checked.
    package mutating func string(validUTF8 utf8: [UInt8]) { string(validUTF8: utf8.span) }

    package mutating func string(validUTF8 utf8: Span<UInt8>) {
        separate()
        appendQuoted(utf8, isValid: true)
    }

    /// `utf8` must be valid UTF-8; bytes that are not are replaced by U+FFFD.
    package mutating func string(utf8: [UInt8]) {
        separate()
        appendQuoted(utf8.span, isValid: false)
    }

    /// A string value that is the standard padded base64 of `bytes`.
    package mutating func base64(_ bytes: [UInt8]) { base64(bytes.span) }

    package mutating func base64(_ bytes: Span<UInt8>) {
        separate()
        append(UInt8(ascii: "\""))
        unsafe write(Base64.encodedCount(bytes.count)) { target in unsafe Base64.encode(bytes, into: target) }
        append(UInt8(ascii: "\""))
    }

    /// A value that is JSON already.
    package mutating func raw(_ json: [UInt8]) {
        separate()
        append(json.span)
    }

    /// Ends a line after a complete value, so that the next value gets no comma.
    package mutating func newline() {
        append(UInt8(ascii: "\n"))
        needsComma = false
    }

    private mutating func separate() {
        if needsComma { append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func open(_ bracket: UInt8) {
        separate()
        append(bracket)
        needsComma = false
    }

    private mutating func close(_ bracket: UInt8) {
        append(bracket)
        needsComma = true
    }
}

// MARK: - Bytes

extension JSONWriter {
    /// Gives `body` room for `most` bytes; it returns how many of them it wrote.
    @inline(__always)
    private mutating func write(_ most: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Int) {
        if storage.count - count < most { grow(most) }
        let start = count
        // The room was compared just now: `most` bytes lie between the start and the storage's end.
        count = unsafe storage.withUnsafeMutableBufferPointer { buffer in
            unsafe start + body(UnsafeMutableBufferPointer(rebasing: buffer[start..<(start + most)]))
        }
    }

    /// The array's own growth is geometric; only the new room is zeroed, and never more than a record needs: a buffer
    /// that is reused for record after record would otherwise be zeroed and copied completely for each.
    @inline(never)
    private mutating func grow(_ most: Int) {
        storage.append(contentsOf: repeatElement(0, count: max(most, Self.roomBytes)))
    }

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        if count == storage.count { grow(1) }
        storage[count] = byte
        count += 1
    }

    private mutating func append(_ text: Span<UInt8>) {
        // The room is the text's length.
        unsafe write(text.count) { target in
            unsafe text.withUnsafeBufferPointer { _ = unsafe target.update(fromContentsOf: $0) }
            return text.count
        }
    }

    private mutating func appendDecimal(_ value: UInt64) {
        var digits = 1
        var power: UInt64 = 10
        // Up to 19 digits: the largest Int64 has as many, and 10¹⁹ fits.
        while digits < 19, value >= power {
            digits += 1
            power *= 10
        }
        unsafe write(digits) { target in
            var rest = value
            for index in (0..<digits).reversed() {
                unsafe target[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            return digits
        }
    }

    private mutating func appendQuoted(_ text: Span<UInt8>, isValid: Bool) {
        if !isValid, !UTF8Text.isValid(text) {
            let repaired = UTF8Text.repairing(text)
            return appendQuoted(repaired.utf8Span.span, isValid: true)
        }
        guard text.count > Self.windowBytes else {
            // A byte takes six at most, and there are two quotes.
            return unsafe write(6 * text.count + 2) { target in
                unsafe target[0] = UInt8(ascii: "\"")
                let room = unsafe UnsafeMutableBufferPointer(rebasing: target[1...])
                let count = unsafe ByteScan.writeEscaped(text, into: room)
                unsafe target[count + 1] = UInt8(ascii: "\"")
                return count + 2
            }
        }
        append(UInt8(ascii: "\""))
        var start = 0
        // A window's escapes take at most six bytes a byte, so that no count is needed before.
        while start < text.count {
            let window = text.extracting(start..<min(start + Self.windowBytes, text.count))
            unsafe write(6 * window.count) { target in unsafe ByteScan.writeEscaped(window, into: target) }
            start += window.count
        }
        append(UInt8(ascii: "\""))
    }

    private static let windowBytes = 256
    private static let roomBytes = 1_024
}
