/// An identifier: class and constructed bit as in the first octet, and the tag number, however many octets it took.
struct DERTag: Hashable, Sendable {
    let leading: UInt8
    let number: Int

    static let boolean = DERTag(leading: 0x00, number: 1)
    static let integer = DERTag(leading: 0x00, number: 2)
    static let bitString = DERTag(leading: 0x00, number: 3)
    static let octetString = DERTag(leading: 0x00, number: 4)
    static let objectIdentifier = DERTag(leading: 0x00, number: 6)
    static let utf8String = DERTag(leading: 0x00, number: 12)
    static let sequence = DERTag(leading: 0x20, number: 16)
    static let set = DERTag(leading: 0x20, number: 17)
    static let utcTime = DERTag(leading: 0x00, number: 23)
    static let generalizedTime = DERTag(leading: 0x00, number: 24)

    /// Context-specific and constructed: what EXPLICIT tagging writes.
    static func explicit(_ number: Int) -> DERTag { DERTag(leading: 0xA0, number: number) }
}

struct DERElement: Sendable {
    let tag: DERTag
    /// Header and content.
    let whole: Range<Int>
    let content: Range<Int>
}

/// A cursor over the DER elements of one range: definite minimal lengths, minimal tags, nothing beyond the range.
///
/// It keeps offsets only; the buffer is lent to each call.
struct DERReader {
    private(set) var position: Int
    let end: Int

    init(_ range: Range<Int>) {
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position == end }

    /// The next element, whatever its tag.
    mutating func next(_ bytes: Span<UInt8>) throws(DERFault) -> DERElement {
        let start = position
        let tag = try readTag(bytes)
        let length = try readLength(bytes)
        guard length <= end - position else { throw DERFault(offset: start) }
        let content = position..<(position + length)
        position = content.upperBound
        return DERElement(tag: tag, whole: start..<position, content: content)
    }

    /// The next element's content, which must have the tag.
    mutating func next(_ tag: DERTag, _ bytes: Span<UInt8>) throws(DERFault) -> Range<Int> {
        try element(tag, bytes).content
    }

    /// Whether the next element has the tag; the cursor stays.
    func isNext(_ tag: DERTag, _ bytes: Span<UInt8>) -> Bool {
        var probe = self
        guard let found = try? probe.readTag(bytes) else { return false }
        return found == tag
    }

    func expectEnd() throws(DERFault) {
        guard isAtEnd else { throw DERFault(offset: position) }
    }

    private mutating func octet(_ bytes: Span<UInt8>) throws(DERFault) -> UInt8 {
        guard position < end else { throw DERFault(offset: position) }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func readTag(_ bytes: Span<UInt8>) throws(DERFault) -> DERTag {
        let first = try octet(bytes)
        let leading = first & 0xE0
        guard first & 0x1F == 0x1F else { return DERTag(leading: leading, number: Int(first & 0x1F)) }
        var number = 0
        // Three octets of seven bits: far beyond any tag in use.
        for index in 0..<3 {
            let next = try octet(bytes)
            guard index > 0 || next != 0x80 else { throw DERFault(offset: position) }
            number = number << 7 | Int(next & 0x7F)
            guard next & 0x80 != 0 else {
                guard number >= 0x1F else { throw DERFault(offset: position) }
                return DERTag(leading: leading, number: number)
            }
        }
        throw DERFault(offset: position)
    }

    private mutating func readLength(_ bytes: Span<UInt8>) throws(DERFault) -> Int {
        let first = try octet(bytes)
        guard first >= 0x80 else { return Int(first) }
        let count = Int(first & 0x7F)
        // Two octets name 64 KiB, more than any object may have; none is the indefinite form.
        guard count == 1 || count == 2 else { throw DERFault(offset: position) }
        var length = 0
        for _ in 0..<count { length = length << 8 | Int(try octet(bytes)) }
        guard length >= (count == 1 ? 0x80 : 0x100) else { throw DERFault(offset: position) }
        return length
    }
}

extension DERReader {
    /// Reads a range that must be exactly one element with the tag.
    ///
    /// - Returns: the element's content.
    static func only(_ tag: DERTag, in range: Range<Int>, _ bytes: Span<UInt8>) throws(DERFault) -> Range<Int> {
        var reader = DERReader(range)
        let content = try reader.next(tag, bytes)
        try reader.expectEnd()
        return content
    }

    /// Whether a range has so few elements, with those inside others and inside OCTET STRINGs. A byte that begins none
    /// counts as one.
    static func elements(in range: Range<Int>, areAtMost most: Int, _ bytes: Span<UInt8>) -> Bool {
        var (position, count) = (range.lowerBound, 0)
        while position < range.upperBound {
            count += 1
            guard count <= most else { return false }
            var reader = DERReader(position..<range.upperBound)
            guard let element = try? reader.next(bytes) else {
                position += 1
                continue
            }
            let content = element.content
            let holdsOthers =
                element.tag.leading & 0x20 != 0
                || (element.tag == .octetString && !content.isEmpty && bytes[content.lowerBound] == 0x30)
            position = holdsOthers ? content.lowerBound : content.upperBound
        }
        return true
    }

    /// The next element, which must have the tag.
    mutating func element(_ tag: DERTag, _ bytes: Span<UInt8>) throws(DERFault) -> DERElement {
        let start = position
        let element = try next(bytes)
        guard element.tag == tag else { throw DERFault(offset: start) }
        return element
    }

    /// An INTEGER's content octets: at least one, minimal.
    mutating func integer(_ bytes: Span<UInt8>) throws(DERFault) -> Range<Int> {
        let content = try next(.integer, bytes)
        guard !content.isEmpty else { throw DERFault(offset: content.lowerBound) }
        guard content.count > 1 else { return content }
        let (first, second) = (bytes[content.lowerBound], bytes[content.lowerBound + 1])
        let padded = (first == 0x00 && second < 0x80) || (first == 0xFF && second >= 0x80)
        guard !padded else { throw DERFault(offset: content.lowerBound) }
        return content
    }

    /// A BOOLEAN that is FALSE by default: DER leaves that out, so what is written must be TRUE, spelt FF.
    mutating func defaultFalse(_ bytes: Span<UInt8>) throws(DERFault) -> Bool {
        guard isNext(.boolean, bytes) else { return false }
        let content = try next(.boolean, bytes)
        guard content.count == 1, bytes[content.lowerBound] == 0xFF else { throw DERFault(offset: content.lowerBound) }
        return true
    }

    /// A BIT STRING of whole octets: its octets, without the count of unused bits, which must be 0.
    mutating func octetsOfBitString(_ bytes: Span<UInt8>) throws(DERFault) -> Range<Int> {
        let content = try next(.bitString, bytes)
        guard let first = content.first, bytes[first] == 0 else { throw DERFault(offset: content.lowerBound) }
        return content.dropFirst()
    }
}

/// Bytes that are not the expected strict DER (ITU-T X.690 section 10).
struct DERFault: Error, Equatable, Sendable {
    let offset: Int
}
