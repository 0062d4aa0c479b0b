internal import AppAttest
internal import Crypto
internal import Streams

/// A key's record in the very bytes that ``LedgerCodec`` writes today: the fields in order, the shortest heads, 64 bytes
/// of a point, a request id that an entry holds. Every other form is left to the general decoder.
struct PlainKeyRecord {
    private(set) var x = Digest(words: (0, 0, 0, 0))
    private(set) var y = Digest(words: (0, 0, 0, 0))
    private(set) var counter: UInt32 = 0
    /// Valid UTF-8 in the bytes given, as is the Apple App ID, once a ``KeyLedger`` has found their numbers.
    private(set) var app: Range<Int>?
    private(set) var appleAppID = 0..<0
    private(set) var isProduction = false
    private(set) var category: UInt32?
    private(set) var registeredAt: Int64 = 0
    private(set) var nonce: Digest?
    /// The last request; of its ID, where it lies.
    private(set) var last: (id: Range<Int>, valueDigest: Digest, issuedAt: UInt32, expiresAt: UInt32)?
    private(set) var issued: IssueTime?
    private(set) var risk: RiskMetric?
    private(set) var skipped: UInt64 = 0
    private(set) var unseen: UInt8 = 0
    private(set) var lastUse: UInt32 = 0

    /// - Parameter range: where the record's value lies in `bytes`.
    init?(_ bytes: Span<UInt8>, in range: Range<Int>) {
        var reader = PlainReader(range)
        guard let pairs = reader.head(.map, bytes), reader.skip(0, bytes), reader.skip(1, bytes) else { return nil }
        guard readIdentity(bytes, &reader), readOrigin(bytes, &reader), readHistory(bytes, &reader), reader.isAtEnd
        else { return nil }
        let optional = (app == nil ? 0 : 1) + (category == nil ? 0 : 1) + (nonce == nil ? 0 : 1)
        let rest =
            (last == nil ? 0 : 1) + (issued == nil ? 0 : 1) + (risk == nil ? 0 : 1)
            + (skipped == 0 ? 0 : 1) + (lastUse == 0 ? 0 : 1) + (unseen == 0 ? 0 : 1)
        guard pairs == UInt64(6 + optional + rest) else { return nil }
    }

    /// Fields 1 to 4.
    private mutating func readIdentity(_ bytes: Span<UInt8>, _ reader: inout PlainReader) -> Bool {
        guard reader.skip(1, bytes), let point = reader.string(.bytes, bytes), point.count == 64,
            let x = Digest(bytes.extracting(point.lowerBound..<point.lowerBound + 32)),
            let y = Digest(bytes.extracting(point.lowerBound + 32..<point.upperBound)),
            reader.skip(2, bytes), let counter = reader.word(bytes)
        else { return false }
        (self.x, self.y, self.counter) = (x, y, counter)
        if reader.skip(3, bytes) {
            guard let app = reader.string(.text, bytes) else { return false }
            self.app = app
        }
        guard reader.skip(4, bytes), let appleAppID = reader.string(.text, bytes) else { return false }
        self.appleAppID = appleAppID
        return true
    }

    /// Fields 5 to 8.
    private mutating func readOrigin(_ bytes: Span<UInt8>, _ reader: inout PlainReader) -> Bool {
        guard reader.skip(5, bytes), let environment = reader.head(.unsigned, bytes), environment <= 1 else {
            return false
        }
        isProduction = environment == 1
        if reader.skip(6, bytes) {
            guard let category = reader.word(bytes) else { return false }
            self.category = category
        }
        guard reader.skip(7, bytes), let registeredAt = Self.time(bytes, &reader) else { return false }
        self.registeredAt = registeredAt
        if reader.skip(8, bytes) {
            guard let nonce = Self.digest(bytes, &reader) else { return false }
            self.nonce = nonce
        }
        return true
    }

    /// Fields 9 to 14.
    private mutating func readHistory(_ bytes: Span<UInt8>, _ reader: inout PlainReader) -> Bool {
        if reader.skip(9, bytes) {
            guard reader.head(.array, bytes) == 4, let id = reader.string(.text, bytes),
                let valueDigest = Self.digest(bytes, &reader),
                let issuedAt = reader.word(bytes), let expiresAt = reader.word(bytes)
            else { return false }
            last = (id, valueDigest, issuedAt, expiresAt)
        }
        if reader.skip(10, bytes) {
            guard reader.head(.array, bytes) == 2, let notBefore = Self.time(bytes, &reader),
                let serial = reader.head(.unsigned, bytes).flatMap({ Int64(exactly: $0) })
            else { return false }
            issued = IssueTime(notBefore: EvaluationTime(milliseconds: notBefore), serial: serial)
        }
        if reader.skip(11, bytes) {
            guard reader.head(.array, bytes) == 2, let value = reader.word(bytes).flatMap({ UInt16(exactly: $0) }),
                let createdAt = reader.word(bytes), createdAt > 0
            else { return false }
            risk = RiskMetric(value, createdAt: createdAt)
        }
        if reader.skip(12, bytes) {
            guard let bits = reader.head(.unsigned, bytes), bits != 0,
                bits == KeyCounters(highest: counter, skipped: bits).skipped
            else { return false }
            skipped = bits
        }
        if reader.skip(13, bytes) {
            guard let seconds = reader.word(bytes), seconds != 0 else { return false }
            lastUse = seconds
        }
        if reader.skip(14, bytes) {
            guard let number = reader.head(.unsigned, bytes).flatMap({ UInt8(exactly: $0) }), number != 0,
                number == KeyCounters(highest: counter, unseen: number).unseen
            else { return false }
            unseen = number
        }
        return true
    }

    static func digest(_ bytes: Span<UInt8>, _ reader: inout PlainReader) -> Digest? {
        reader.string(.bytes, bytes).flatMap { Digest(bytes.extracting($0)) }
    }

    /// A time from 1970 on that RFC 3339 can write.
    static func time(_ bytes: Span<UInt8>, _ reader: inout PlainReader) -> Int64? {
        guard let number = reader.head(.unsigned, bytes), let time = Int64(exactly: number),
            time <= InboundRecord.timestamps.upperBound
        else { return nil }
        return time
    }
}
