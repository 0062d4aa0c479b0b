internal import AppAttest
internal import Crypto

/// A key record in memory: 200 bytes without references, so that a million keys are a few arrays. The key's ID is not here:
/// it is the SHA-256 of the point, and is found by its ``KeyFingerprint``. What does not fit is odd: see ``LedgerTable``.
struct LedgerEntry {
    struct Flags: OptionSet {
        let rawValue: UInt8
        static let nonce = Flags(rawValue: 1)
        static let issued = Flags(rawValue: 2)
        static let lastRequest = Flags(rawValue: 4)
        /// The record lies beside the table.
        static let odd = Flags(rawValue: 8)
        /// The slot holds no key.
        static let free = Flags(rawValue: 16)
    }

    /// The last accepted request.
    struct Last {
        let id: PackedID
        let valueDigest: Digest
        let issuedAt: UInt32
        let expiresAt: UInt32
    }

    private static let timeBits: UInt64 = 48
    /// The form of the request's ID stands above the flags.
    private static let formBit = 13

    // What a look-up reads comes first, in neighbouring cache lines.
    /// 48 bits of the tag, 3 of the form of the request's ID, 5 of the flags, 8 of ``KeyCounters/unseen``.
    private(set) var head: UInt64
    private(set) var x: Digest
    private(set) var y: Digest
    private(set) var nonce: Digest
    private(set) var valueDigest: Digest
    private var requestID: PackedID.Words = (0, 0, 0)
    /// 48 bits of time in milliseconds, 16 of the profile.
    private var registration: UInt64
    /// 48 bits of the serial number, 16 of the metric.
    private var issue: UInt64 = 0
    /// notBefore of the last attestation's leaf, in seconds.
    private var notBefore: UInt32 = 0
    /// `iat` and `exp` of the last request's token.
    private var tokenTimes: (UInt32, UInt32) = (0, 0)
    /// When the metric's receipt was made; 0 = there is no metric.
    private var riskCreatedAt: UInt32 = 0
    private(set) var counter: UInt32
    /// ``KeyRecord/lastUse``.
    private(set) var lastUse: UInt32

    static func flags(_ head: UInt64) -> Flags { Flags(rawValue: UInt8(truncatingIfNeeded: head >> 8) & 0x1F) }
    static func tag(_ head: UInt64) -> UInt64 { head >> 16 }

    var flags: Flags { Self.flags(head) }
    var unseen: UInt8 { UInt8(truncatingIfNeeded: head) }
    var profile: UInt16 { UInt16(truncatingIfNeeded: registration) }
    /// Milliseconds since 1970.
    var registeredAt: Int64 { Int64(registration >> 16) }

    /// - Parameter key: of the point.
    /// - Returns: nil for a record that does not fit.
    init?(
        _ key: KeyFingerprint,
        _ point: P256PublicKey,
        nonce: Digest?,
        last: Last?,
        registeredAt: EvaluationTime,
        issued: IssueTime?,
        risk: RiskMetric?,
        counters: KeyCounters,
        lastUse: UInt32,
        profile: UInt16
    ) {
        guard let registration = Self.time(registeredAt.milliseconds) else { return nil }
        (x, y, self.nonce, valueDigest) = (point.x, point.y, nonce ?? point.x, last?.valueDigest ?? point.x)
        self.registration = registration << 16 | UInt64(profile)
        var flags: Flags = []
        if nonce != nil { flags.insert(.nonce) }
        if let last {
            flags.insert(.lastRequest)
            (requestID, tokenTimes) = (last.id.words, (last.issuedAt, last.expiresAt))
        }
        if let issued {
            let (seconds, rest) = issued.notBefore.milliseconds.quotientAndRemainder(dividingBy: 1000)
            guard rest == 0, let seconds = UInt32(exactly: seconds), let serial = Self.time(issued.serial) else {
                return nil
            }
            flags.insert(.issued)
            (notBefore, issue) = (seconds, serial << 16)
        }
        if let risk { (riskCreatedAt, issue) = (risk.createdAt, issue | UInt64(risk.value)) }
        let form = UInt64(last?.id.form.rawValue ?? 0) << Self.formBit
        head = key.tag << 16 | form | UInt64(flags.rawValue) << 8 | UInt64(counters.unseen)
        (counter, self.lastUse) = (counters.highest, lastUse)
    }

    private static func time(_ number: Int64) -> UInt64? {
        number >= 0 && number < 1 << timeBits ? UInt64(number) : nil
    }

    /// The entry of a record that lies beside the table.
    init(odd key: KeyFingerprint) {
        let none = Digest(words: (0, 0, 0, 0))
        (x, y, nonce, valueDigest) = (none, none, none, none)
        (registration, counter, lastUse) = (0, 0, 0)
        head = key.tag << 16 | UInt64(Flags.odd.rawValue) << 8
    }

    mutating func setFree() { head = UInt64(Flags.free.rawValue) << 8 }

    mutating func set(_ counters: KeyCounters) {
        head = head & ~0xFF | UInt64(counters.unseen)
        counter = counters.highest
    }

    var publicKey: P256PublicKey { P256PublicKey(uncheckedX: x, y: y) }

    var risk: RiskMetric? {
        riskCreatedAt == 0
            ? nil : RiskMetric(UInt16(truncatingIfNeeded: issue), createdAt: riskCreatedAt)
    }

    var issued: IssueTime? {
        guard flags.contains(.issued) else { return nil }
        return IssueTime(notBefore: EvaluationTime(milliseconds: Int64(notBefore) * 1000), serial: Int64(issue >> 16))
    }

    /// `iat` of the last request's token; 0 = there is none.
    var issuedAt: UInt32 { tokenTimes.0 }

    var last: Last? {
        guard flags.contains(.lastRequest),
            let form = PackedID.Form(rawValue: UInt8(truncatingIfNeeded: head >> UInt64(Self.formBit)) & 7)
        else { return nil }
        return Last(
            id: PackedID(form, requestID),
            valueDigest: valueDigest,
            issuedAt: tokenTimes.0,
            expiresAt: tokenTimes.1
        )
    }
}
