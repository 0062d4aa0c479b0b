internal import AppAttest
internal import CBOR
internal import Crypto
internal import Streams

/// The ledger topic's records, byte for byte. Values are deterministic CBOR (RFC 8949, 4.2.1): a map with unsigned keys,
/// of which 0 is the schema version, 1. Times are milliseconds since 1970 unless said otherwise. No value = forgotten.
///
/// | record key | value |
/// | --- | --- |
/// | 01 ‖ key ID (32) | 1: X ‖ Y (64 bytes) or imported bytes that are not a key, 2: counter, 3: app (text, absent = unbound), 4: Apple App ID (text), 5: environment (0 development, 1 production), 6: validation category, 7: registered at, 8: nonce of the last attestation (32 bytes), 9: last accepted request = [request id (text), SHA-256 of the value, `iat`, `exp`] (seconds, 0 = no token), 10: when the leaf of the last attestation was issued = [notBefore, serial number], 11: risk metric = [metric, when its receipt was made (seconds)], 12: skipped counters that may still be used: bit i (1, 2, 4, …) stands for the counter less 1 + i, 13: last use (seconds; written while `keys.expireAfter` is set), 14: how many counters above it may have been used unseen (255 = all; absent = none) |
/// | 02 ‖ SHA-256(challenge ‖ key ID), or the code of an operator's command | 1: expires at, 2: SHA-256 that names the request |
/// | 03 ‖ SHA-256(project ‖ `jti`) | 1: expires at, 2: SHA-256 that names the request |
/// | 04 | 1: stream time, 2: the offset after the last applied request, 3: `group.id` (bytes), 4: delivery (0 transaction, 1 at least once, 2 at least once before the first committed offset), 5: identity of the ledger (16 random bytes, repeated in each mark), 6: stream time since which last uses are noted (while `keys.expireAfter` is set), 7: transactional id of the writer (bytes), 8: number of partitions of the requests (0 = a move into the ledger has not ended, -N = its keys were moved away), 9: the move that wrote the mark (bytes); older versions wrote 1 only where ids were forgotten, 2 in at-least-once delivery only, and none of 3 to 9 |
/// | 05 ‖ app (UTF-8) | 1: start, 2: attestations admitted since |
/// | 06 ‖ sealing key id (4) | 1: in use since |
/// | 07 ‖ SHA-256(01 ‖ key ID, or 02 ‖ installation id) | 1: banned since, 2: kind (1 key, 2 installation), 3: until (absent = until it is lifted), 4: offset of the command's record; older versions know neither 3 nor 4, and keep the ban until it is lifted |
package enum LedgerCodec {
    package static let schemaVersion: UInt64 = 1
    /// Counts up with each field that is added to a record.
    package static let revision: UInt64 = 1

    package enum Kind: UInt8 {
        case key = 1
        case challenge, token, mark, rate, sealingKey, ban
    }

    /// The kind of the record with this key; nil where no version of ours wrote it.
    package static func kind(of key: [UInt8]) -> Kind? { key.first.flatMap(Kind.init) }

    package static func encode(_ change: LedgerChange) -> (key: [UInt8], value: [UInt8]?) {
        switch change {
        case .key(let id, let record): (key(.key, id.digest), value(of: record))
        case .keyForgotten(let id): (key(.key, id.digest), nil)
        case .challenge(let id, let consumed): (key(.challenge, id), value(of: consumed))
        case .challengeForgotten(let id): (key(.challenge, id), nil)
        case .token(let id, let consumed): (key(.token, id), value(of: consumed))
        case .tokenForgotten(let id): (key(.token, id), nil)
        case .mark(let mark): ([Kind.mark.rawValue], value(of: mark))
        case .markForgotten: ([Kind.mark.rawValue], nil)
        case .rate(let app, let rate):
            ([Kind.rate.rawValue] + Array(app.utf8), numbers(rate.start.milliseconds, Int64(clamping: rate.count)))
        case .sealingKey(let id, let since): (key(sealingKey: id), numbers(since.milliseconds, nil))
        case .sealingKeyForgotten(let id): (key(sealingKey: id), nil)
        case .ban(let id, let ban): (key(.ban, id), value(of: ban))
        case .banLifted(let id): (key(.ban, id), nil)
        }
    }

    private static func key(sealingKey id: UInt32) -> [UInt8] {
        [Kind.sealingKey.rawValue] + (0..<4).map { UInt8(truncatingIfNeeded: id >> UInt32(24 - 8 * $0)) }
    }

    private static func key(_ kind: Kind, _ digest: Digest) -> [UInt8] {
        [UInt8](capacity: 1 + Digest.byteCount) {
            $0.append(kind.rawValue)
            digest.write(to: &$0)
        }
    }

    private static func value(of mark: PartitionMark) -> [UInt8] {
        var cbor = CBORWriter()
        let position = mark.position
        let optional = [
            mark.streamTime != nil, position.appliedOffset != nil, position.group != nil, position.delivery != nil,
            position.identity != nil, mark.usesSince != nil, position.writer != nil, position.partitions != nil,
            position.move != nil,
        ]
        cbor.map(1 + optional.count { $0 })
        version(&cbor)
        if let time = mark.streamTime { number(1, time.milliseconds, &cbor) }
        if let offset = position.appliedOffset { number(2, offset, &cbor) }
        if let group = position.group { bytes(3, group, &cbor) }
        if let delivery = position.delivery { number(4, Int64(delivery.rawValue), &cbor) }
        if let identity = position.identity { bytes(5, identity, &cbor) }
        if let time = mark.usesSince { number(6, time.milliseconds, &cbor) }
        if let writer = position.writer { bytes(7, writer, &cbor) }
        if let partitions = position.partitions { number(8, Int64(partitions), &cbor) }
        if let move = position.move { bytes(9, move, &cbor) }
        return cbor.bytes
    }

    private static func value(of consumed: ConsumedID) -> [UInt8] {
        var cbor = CBORWriter()
        cbor.map(3)
        version(&cbor)
        number(1, consumed.expiresAt.milliseconds, &cbor)
        cbor.unsigned(2)
        consumed.request.withBytes { cbor.bytes($0) }
        return cbor.bytes
    }

    private static func value(of ban: Ban) -> [UInt8] {
        var cbor = CBORWriter()
        cbor.map(3 + (ban.until == nil ? 0 : 1) + (ban.offset == nil ? 0 : 1))
        version(&cbor)
        number(1, ban.since.milliseconds, &cbor)
        number(2, Int64(ban.kind.rawValue), &cbor)
        if let until = ban.until { number(3, until.milliseconds, &cbor) }
        if let offset = ban.offset { number(4, offset, &cbor) }
        return cbor.bytes
    }

    private static func numbers(_ first: Int64?, _ second: Int64?) -> [UInt8] {
        var cbor = CBORWriter()
        cbor.map(1 + (first == nil ? 0 : 1) + (second == nil ? 0 : 1))
        version(&cbor)
        if let first { number(1, first, &cbor) }
        if let second { number(2, second, &cbor) }
        return cbor.bytes
    }

    private static func value(of record: KeyRecord) -> [UInt8] {
        // Enough for all members, with texts of a usual length.
        var cbor = CBORWriter(capacity: 384)
        cbor.map(6 + optionalMembers(record))
        version(&cbor)
        cbor.unsigned(1)
        if let key = record.publicKey { key.withCoordinates { cbor.bytes($0) } } else { cbor.bytes(record.unusableKey) }
        number(2, Int64(record.counter), &cbor)
        if let app = record.app {
            cbor.unsigned(3)
            cbor.text(app)
        }
        cbor.unsigned(4)
        cbor.text(record.appleAppID)
        number(5, record.environment == .production ? 1 : 0, &cbor)
        if let category = record.validationCategory { number(6, Int64(category), &cbor) }
        number(7, record.registeredAt.milliseconds, &cbor)
        if let nonce = record.nonce {
            cbor.unsigned(8)
            nonce.withBytes { cbor.bytes($0) }
        }
        if let last = record.lastRequest { write(last, &cbor) }
        if let issued = record.issued {
            cbor.unsigned(10)
            cbor.array(2)
            integer(issued.notBefore.milliseconds, &cbor)
            integer(issued.serial, &cbor)
        }
        if let risk = record.risk {
            cbor.unsigned(11)
            cbor.array(2)
            cbor.unsigned(UInt64(risk.value))
            cbor.unsigned(UInt64(risk.createdAt))
        }
        if record.skipped != 0 {
            cbor.unsigned(12)
            cbor.unsigned(record.skipped)
        }
        if record.lastUse != 0 { number(13, Int64(record.lastUse), &cbor) }
        if record.unseen != 0 { number(14, Int64(record.unseen), &cbor) }
        return cbor.bytes
    }

    private static func optionalMembers(_ record: KeyRecord) -> Int {
        (record.app == nil ? 0 : 1) + (record.validationCategory == nil ? 0 : 1) + (record.nonce == nil ? 0 : 1)
            + (record.lastRequest == nil ? 0 : 1) + (record.issued == nil ? 0 : 1) + (record.risk == nil ? 0 : 1)
            + (record.skipped == 0 ? 0 : 1) + (record.lastUse == 0 ? 0 : 1) + (record.unseen == 0 ? 0 : 1)
    }

    private static func write(_ last: LastRequest, _ cbor: inout CBORWriter) {
        cbor.unsigned(9)
        cbor.array(4)
        cbor.text(utf8: last.id.utf8)
        last.valueDigest.withBytes { cbor.bytes($0) }
        cbor.unsigned(UInt64(last.issuedAt))
        cbor.unsigned(UInt64(last.expiresAt))
    }

    private static func version(_ cbor: inout CBORWriter) {
        cbor.unsigned(0)
        cbor.unsigned(schemaVersion)
    }

    private static func bytes(_ key: UInt64, _ value: [UInt8], _ cbor: inout CBORWriter) {
        cbor.unsigned(key)
        cbor.bytes(value)
    }

    private static func number(_ key: UInt64, _ value: Int64, _ cbor: inout CBORWriter) {
        cbor.unsigned(key)
        integer(value, &cbor)
    }

    private static func integer(_ value: Int64, _ cbor: inout CBORWriter) {
        if value >= 0 { cbor.unsigned(UInt64(value)) } else { cbor.negative(UInt64(-1 - value)) }
    }
}

/// A ledger record that this version cannot read. It ends the work: a worker that went on without it would forget.
package struct LedgerFault: Error, Equatable, Sendable, CustomStringConvertible {
    package let partition: Int32
    package let reason: String

    package init(partition: Int32, reason: String) { (self.partition, self.reason) = (partition, reason) }

    package var description: String {
        "the ledger topic's partition \(partition) has a record that cannot be read: \(reason)"
    }
}
