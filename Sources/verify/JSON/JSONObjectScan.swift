/// Follows an object of JSON from bracket to bracket, line by line, without reading what is in it.
///
/// It finds the end of an object that stands on several lines. Whether that is JSON, ``JSONDocument`` judges.
package struct JSONObjectScan {
    package enum Outcome: Equatable, Sendable {
        /// The object goes on after the line.
        case open
        /// The index after its last bracket.
        case closed(Int)
        /// The line ends within a string: it was cut off there.
        case cut
        /// No JSON goes on like that: what came before was cut off.
        case broken
    }

    private static let mostDepth = 64

    /// A bit for each open container, the innermost lowest: set for an object.
    private var objects: UInt64 = 0
    private var depth = 0
    /// The last byte that is neither white space nor in a string; a quote for a string.
    private var last = UInt8(ascii: ",")

    package init() {}

    /// Whether the innermost open container is an array.
    package var isInArray: Bool { depth > 0 && objects & 1 == 0 }

    /// - Parameter line: a part of `bytes` without newlines; the first one starts with the object's bracket.
    package mutating func scan(_ bytes: Span<UInt8>, _ line: Range<Int>) -> Outcome {
        let text = bytes.extracting(..<line.upperBound)
        var index = line.lowerBound
        while index < text.count {
            let byte = text[index]
            switch byte {
            case UInt8(ascii: "\""):
                // A string's newlines are escaped, so it ends on its line.
                guard let end = Self.endOfString(text, from: index &+ 1) else { return .cut }
                index = end
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard open(byte) else { return .broken }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard depth > 0, (objects & 1 == 1) == (byte == UInt8(ascii: "}")) else { return .broken }
                objects >>= 1
                depth &-= 1
                if depth == 0 { return .closed(index &+ 1) }
            default: break
            }
            if byte > 0x20 { last = byte }
            index &+= 1
        }
        return .open
    }

    /// - Returns: false where no value may stand.
    private mutating func open(_ byte: UInt8) -> Bool {
        let isInObject = depth > 0 && objects & 1 == 1
        let mayStand = isInObject ? last == UInt8(ascii: ":") : last == UInt8(ascii: ",") || last == UInt8(ascii: "[")
        guard mayStand, depth < Self.mostDepth else { return false }
        objects = objects << 1 | (byte == UInt8(ascii: "{") ? 1 : 0)
        depth &+= 1
        return true
    }

    /// The index of the closing quote.
    private static func endOfString(_ text: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while true {
            index = ByteScan.endOfPlainRun(text, from: index)
            guard index < text.count else { return nil }
            if text[index] == UInt8(ascii: "\"") { return index }
            index &+= text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
    }
}
