package import BrokerKit

/// The beginning of a Kafka request, as far as the network needs it.
package struct RequestHead: Sendable, Equatable {
    package let key: APIKey
    package let version: Int16
    package let correlationID: Int32
    /// Of the requests that carry one; nil = none, or none that could be read.
    package let transactionalID: [UInt8]?

    /// - Parameter frame: a request with its four bytes of length. - Returns: nil if it is not a request.
    package init?(_ frame: [UInt8]) {
        var reader = FrameReader(frame, from: 4)
        guard let key = reader.int16(), let version = reader.int16(), let id = reader.int32() else { return nil }
        (self.key, self.version, correlationID) = (APIKey(rawValue: key), version, id)
        transactionalID = Self.transactionalID(of: self.key, version, &reader)
    }

    /// The body's first field, after the client's name.
    private static func transactionalID(of key: APIKey, _ version: Int16, _ reader: inout FrameReader) -> [UInt8]? {
        guard let flexible = key.firstFlexibleVersion, reader.skipString() else { return nil }
        guard version >= flexible else { return reader.string() }
        return reader.skipTags() ? reader.compactString() : nil
    }
}

/// Reads big-endian fields; nil beyond the end.
struct FrameReader {
    private let bytes: [UInt8]
    private var index: Int

    init(_ bytes: [UInt8], from index: Int) { (self.bytes, self.index) = (bytes, index) }

    mutating func byte() -> UInt8? {
        guard index < bytes.count else { return nil }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, index + count <= bytes.count else { return false }
        index += count
        return true
    }

    mutating func int16() -> Int16? { integer() }
    mutating func int32() -> Int32? { integer() }

    private mutating func integer<Number: FixedWidthInteger>() -> Number? {
        take(MemoryLayout<Number>.size)?.reduce(0) { $0 << 8 | Number($1) }
    }

    mutating func string() -> [UInt8]? {
        guard let length = int16(), length >= 0 else { return nil }
        return take(Int(length))
    }

    /// A nullable string of the request's head.
    mutating func skipString() -> Bool {
        guard let length = int16() else { return false }
        return length < 0 || skip(Int(length))
    }

    mutating func compactString() -> [UInt8]? {
        guard let length = varint(), length > 0 else { return nil }
        return take(length - 1)
    }

    mutating func skipTags() -> Bool {
        guard let count = varint(), count <= 16 else { return false }
        return (0..<count).allSatisfy { _ in
            guard varint() != nil, let length = varint() else { return false }
            return skip(length)
        }
    }

    private mutating func varint() -> Int? {
        var value = 0
        for shift in stride(from: 0, through: 28, by: 7) {
            guard let next = byte() else { return nil }
            value |= Int(next & 0x7F) << shift
            if next < 0x80 { return value }
        }
        return nil
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        let start = index
        return skip(count) ? Array(bytes[start..<index]) : nil
    }
}
