internal import AppAttest

/// Writes DER (X.690) the way the lab needs it: element by element, so that a fault can put anything anywhere.
enum DER {
    static let null: [UInt8] = [0x05, 0x00]

    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { element(tag, joining: CollectionOfOne(content)) }

    /// Appends the length octets, in the shortest form.
    private static func appendLength(_ count: Int, to bytes: inout [UInt8]) {
        guard count >= 0x80 else { return bytes.append(UInt8(count)) }
        precondition(count < 0x1_0000, "lab elements stay below 64 KiB")
        bytes.append(count < 0x100 ? 0x81 : 0x82)
        if count >= 0x100 { bytes.append(UInt8(count >> 8)) }
        bytes.append(UInt8(count & 0xFF))
    }

    static func element(_ tag: UInt8, joining parts: some Collection<[UInt8]>) -> [UInt8] {
        let count = parts.reduce(0) { $0 + $1.count }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 5)
        bytes.append(tag)
        appendLength(count, to: &bytes)
        for part in parts { bytes += part }
        return bytes
    }

    static func sequence(_ parts: [UInt8]...) -> [UInt8] { element(0x30, joining: parts) }
    static func set(_ parts: [UInt8]...) -> [UInt8] { element(0x31, joining: parts) }
    static func octetString(_ content: [UInt8]) -> [UInt8] { element(0x04, content) }
    static func utf8String(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    static func printableString(_ text: String) -> [UInt8] { element(0x13, Array(text.utf8)) }
    static func bitString(_ content: [UInt8]) -> [UInt8] { element(0x03, [0] + content) }

    static func boolean(_ value: Bool) -> [UInt8] { [0x01, 0x01, value ? 0xFF : 0x00] }

    /// A non-negative INTEGER from its big-endian magnitude.
    static func integer(_ magnitude: [UInt8]) -> [UInt8] {
        let start = magnitude.firstIndex { $0 != 0 } ?? magnitude.count
        // A number whose first bit is set, or zero, gets a byte more.
        let hasSign = start == magnitude.count || magnitude[start] >= 0x80
        var bytes: [UInt8] = [0x02]
        bytes.reserveCapacity(magnitude.count + 5)
        appendLength(magnitude.count - start + (hasSign ? 1 : 0), to: &bytes)
        if hasSign { bytes.append(0) }
        bytes += magnitude[start...]
        return bytes
    }

    static func integer(_ value: UInt64) -> [UInt8] {
        guard value >= 0x80 else { return [0x02, 0x01, UInt8(value)] }
        return integer((0..<8).map { UInt8(truncatingIfNeeded: value >> UInt64(56 - 8 * $0)) })
    }

    /// An explicit context tag, in the long form from 31 up.
    static func explicit(_ number: UInt32, _ content: [UInt8]) -> [UInt8] {
        guard number >= 31 else { return element(0xA0 | UInt8(number), content) }
        return [0xBF] + base128(number) + element(0xBF, content).dropFirst()
    }

    /// An OBJECT IDENTIFIER from its dotted text, which must be one.
    static func oid(_ dotted: String) -> [UInt8] {
        let arcs = dotted.split(separator: ".").compactMap { UInt32($0) }
        precondition(arcs.count >= 2, "an object identifier has two arcs at least")
        return element(0x06, base128(arcs[0] * 40 + arcs[1]) + arcs.dropFirst(2).flatMap(base128))
    }

    /// UTCTime up to 2049, GeneralizedTime from 2050 (RFC 5280, 4.1.2.5); whole seconds, rounded down.
    static func time(_ time: EvaluationTime) -> [UInt8] {
        let civil = CivilTime(time)
        let text = civil.text(withMilliseconds: false).utf8.filter { !"-T:".utf8.contains($0) }
        return (1950..<2050).contains(civil.year) ? element(0x17, Array(text.dropFirst(2))) : element(0x18, text)
    }

    private static func base128(_ value: UInt32) -> [UInt8] {
        var bytes: [UInt8] = [UInt8(value & 0x7F)]
        var rest = value >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }
}
