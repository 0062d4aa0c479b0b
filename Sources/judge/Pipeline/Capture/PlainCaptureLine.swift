internal import JSON
internal import Streams

/// An ordinary line of a capture, read in one pass: its members as parts of the chunk, the payload unescaped.
///
/// What it does not understand is left to ``CaptureCodec``, which reads the same record from what it does.
struct PlainCaptureLine {
    private(set) var partition: Int32 = 0
    private(set) var offset: Int64 = 0
    private(set) var timestamp: Int64 = -1
    private(set) var key = 0..<0
    private(set) var headerCount = 0
    private var headers = InlineArray<16, Range<Int>>(repeating: 0..<0)
    private var seen: Members = []

    private struct Members: OptionSet {
        let rawValue: UInt8
        static let topic = Members(rawValue: 1)
        static let partition = Members(rawValue: 2)
        static let offset = Members(rawValue: 4)
        static let timestampType = Members(rawValue: 8)
        static let timestamp = Members(rawValue: 16)
        static let headers = Members(rawValue: 32)
        static let key = Members(rawValue: 64)
        static let payload = Members(rawValue: 128)
        static let needed: Members = [.topic, .partition, .offset, .key, .payload]
    }

    /// - Parameters:
    ///   - topic: the line's topic must be this one.
    ///   - payload: takes the payload's bytes.
    /// - Returns: nil for a line without key or payload, with other members, or for bytes that are not a capture's
    ///   line.
    init?(_ chunk: Span<UInt8>, in range: Range<Int>, topic: String, payload: inout ByteScratch) {
        var cursor = JSONCursor(range)
        guard cursor.take("{", chunk) else { return nil }
        repeat {
            guard let name = cursor.string(chunk), cursor.take(":", chunk),
                take(name, &cursor, chunk, topic: topic, payload: &payload)
            else { return nil }
        } while cursor.take(",", chunk)
        guard cursor.take("}", chunk), cursor.isAtEnd(chunk), seen.isSuperset(of: .needed) else { return nil }
    }

    /// Name and value of a header, as parts of the chunk.
    func header(_ index: Int) -> (name: Range<Int>, value: Range<Int>) { (headers[2 * index], headers[2 * index + 1]) }

    private mutating func take(
        _ name: Range<Int>,
        _ cursor: inout JSONCursor,
        _ chunk: Span<UInt8>,
        topic: String,
        payload: inout ByteScratch
    ) -> Bool {
        func isNamed(_ word: StaticString) -> Bool { JSONCursor.holds(word, chunk.extracting(name)) }
        switch name.count {
        case 2 where isNamed("ts"):
            guard let value = cursor.integer(chunk), !CaptureLine.timesInSeconds.contains(value) else { return false }
            timestamp = value
            return see(.timestamp)
        case 3 where isNamed("key"):
            guard let value = cursor.string(chunk) else { return false }
            key = value
            return see(.key)
        case 5 where isNamed("topic"):
            guard let value = cursor.string(chunk), Bytes.areEqual(chunk.extracting(value), topic) else { return false }
            return see(.topic)
        case 6 where isNamed("offset"):
            guard let value = cursor.integer(chunk) else { return false }
            offset = value
            return see(.offset)
        case 6 where isNamed("tstype"): return cursor.string(chunk) != nil && see(.timestampType)
        case 7 where isNamed("payload"): return cursor.string(chunk, into: &payload) && see(.payload)
        case 7 where isNamed("headers"): return takeHeaders(&cursor, chunk) && see(.headers)
        case 9 where isNamed("partition"):
            guard let value = cursor.integer(chunk), let number = Int32(exactly: value) else { return false }
            partition = number
            return see(.partition)
        default: return false
        }
    }

    /// - Returns: false for a member that was seen before.
    private mutating func see(_ member: Members) -> Bool { seen.insert(member).inserted }

    /// A flat array of strings, a name and a value in turn.
    private mutating func takeHeaders(_ cursor: inout JSONCursor, _ chunk: Span<UInt8>) -> Bool {
        guard cursor.take("[", chunk) else { return false }
        var count = 0
        repeat {
            guard count < headers.count, let text = cursor.string(chunk) else { return false }
            headers[count] = text
            count += 1
        } while cursor.take(",", chunk)
        headerCount = count / 2
        return count.isMultiple(of: 2) && cursor.take("]", chunk)
    }
}
