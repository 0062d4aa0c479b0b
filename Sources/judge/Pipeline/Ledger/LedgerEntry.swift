package import AppAttest
package import Crypto

/// A key record in memory: fixed size (256 bytes), no references, so that a million keys are a few arrays.
struct LedgerEntry {
    static let inlineIDBytes = 39
    /// A request id's length in the first byte, then its bytes.
    typealias InlineID = (UInt64, UInt64, UInt64, UInt64, UInt64)

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let usableKey = Flags(rawValue: 1)
        static let production = Flags(rawValue: 2)
        static let nonce = Flags(rawValue: 4)
        static let lastRequest = Flags(rawValue: 8)
        static let category = Flags(rawValue: 16)
        /// The request id is longer than ``inlineIDBytes`` and is in the ledger's side table.
        static let longID = Flags(rawValue: 32)
        /// The key was removed from the ledger; its slot is kept for the same key's return.
        static let forgotten = Flags(rawValue: 64)
        static let issued = Flags(rawValue: 128)
    }

    var keyID: KeyID
    var x: Digest
    var y: Digest
    var nonce: Digest
    var valueDigest: Digest
    var requestID: InlineID
    var registeredAt: Int64
    /// notBefore and serial number of the last attestation's leaf.
    var issued: (Int64, Int64)
    /// `iat` and `exp` of the last request's token.
    var tokenTimes: (UInt32, UInt32)
    /// When the metric's receipt was made; 0 = there is no metric.
    var riskCreatedAt: UInt32
    var riskValue: UInt16
    /// ``KeyCounters/unseen``.
    var unseen: UInt8
    var counter: UInt32
    var category: UInt32
    var appleAppID: UInt32
    /// Numbers have three bytes, so the flags share a word with one.
    private var appAndFlags: UInt32

    var app: UInt32 { appAndFlags >> 8 }
    var flags: Flags { Flags(rawValue: UInt8(truncatingIfNeeded: appAndFlags)) }

    init(
        keyID: KeyID,
        x: Digest,
        y: Digest,
        nonce: Digest,
        valueDigest: Digest,
        requestID: InlineID,
        registeredAt: Int64,
        issued: (Int64, Int64),
        tokenTimes: (UInt32, UInt32),
        risk: RiskMetric?,
        counter: UInt32,
        unseen: UInt8,
        category: UInt32,
        app: UInt32,
        appleAppID: UInt32,
        flags: Flags
    ) {
        precondition(app <= Interner.maxNumber, "the interner gave the number")
        (self.keyID, self.x, self.y) = (keyID, x, y)
        (self.nonce, self.valueDigest, self.requestID) = (nonce, valueDigest, requestID)
        (self.registeredAt, self.issued, self.tokenTimes) = (registeredAt, issued, tokenTimes)
        (riskCreatedAt, riskValue) = (risk?.createdAt ?? 0, risk?.value ?? 0)
        (self.counter, self.unseen) = (counter, unseen)
        (self.category, self.appleAppID) = (category, appleAppID)
        appAndFlags = app << 8 | UInt32(flags.rawValue)
    }

    var risk: RiskMetric? {
        riskCreatedAt == 0 ? nil : RiskMetric(riskValue, createdAt: riskCreatedAt)
    }

    mutating func forget() { appAndFlags |= UInt32(Flags.forgotten.rawValue) }

    /// Packs up to 39 bytes: the length first.
    static func pack(_ utf8: Span<UInt8>) -> InlineID {
        precondition(utf8.count <= inlineIDBytes, "the id fits")
        return (
            word(0, UInt64(utf8.count), of: utf8), word(7, 0, of: utf8), word(15, 0, of: utf8), word(23, 0, of: utf8),
            word(31, 0, of: utf8)
        )
    }

    /// Eight bytes from `start` on; the first word begins with the length instead, and has seven.
    private static func word(_ start: Int, _ length: UInt64, of utf8: Span<UInt8>) -> UInt64 {
        let width = start == 0 ? 7 : 8
        guard start < utf8.count else { return length << 56 }
        var value = length
        let end = min(utf8.count, start + width)
        for index in start..<end { value = value << 8 | UInt64(utf8[index]) }
        return value << UInt64(8 * (start + width - end))
    }

    /// - Returns: nil for more than 39 bytes, or bytes that are not UTF-8.
    static func pack(validating utf8: Span<UInt8>) -> InlineID? {
        guard utf8.count <= inlineIDBytes else { return nil }
        let id = pack(utf8)
        // The length has no top bit: one in any byte marks text beyond ASCII.
        let isASCII = (id.0 | id.1 | id.2 | id.3 | id.4) & 0x8080_8080_8080_8080 == 0
        return isASCII || (try? UTF8Span(validating: utf8)) != nil ? id : nil
    }

    var inlineID: [UInt8] {
        let words = [requestID.0, requestID.1, requestID.2, requestID.3, requestID.4]
        let count = Int(truncatingIfNeeded: words[0] >> 56)
        return (0..<count).map { index in
            let position = index + 1
            return UInt8(truncatingIfNeeded: words[position / 8] >> UInt64(56 - 8 * (position % 8)))
        }
    }
}

/// One record of the ledger topic. ``LedgerCodec`` defines the bytes.
package enum LedgerChange: Sendable, Equatable {
    case key(KeyID, KeyRecord)
    case challenge(Digest, ConsumedID)
    case token(Digest, ConsumedID)
    /// How far the partition is. At-least-once delivery writes it after everything that was applied and before the ids
    /// that are forgotten.
    case mark(PartitionMark)
    case rate(app: String, RateCount)
    /// A sealing key under which artifacts were issued, by the id in them.
    case sealingKey(UInt32, since: EvaluationTime)
    case ban(Digest, Ban)
    case challengeForgotten(Digest)
    case tokenForgotten(Digest)
    case keyForgotten(KeyID)
    case sealingKeyForgotten(UInt32)
    case markForgotten
    case banLifted(Digest)
}
