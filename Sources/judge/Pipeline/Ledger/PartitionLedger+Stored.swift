internal import AppAttest
internal import Crypto
internal import Streams

extension PartitionLedger {
    /// Applies one record of the ledger topic as it is read back: as ``LedgerCodec`` and ``apply(_:)`` do, and much
    /// faster for keys and used ids in the bytes that are written today.
    ///
    /// - Parameter bytes: where the record lies.
    mutating func apply(_ place: StoredRecords.Place, _ bytes: Span<UInt8>) throws(LedgerCodec.Fault) {
        if let value = place.value, applyPlain(place.key, value, bytes) { return }
        let key = place.key.map { bytes[$0] }
        apply(try LedgerCodec.decode(key: key, value: place.value.map { range in range.map { bytes[$0] } }))
    }

    /// - Returns: false, and nothing has changed, for a record of any other kind or form.
    private mutating func applyPlain(_ key: Range<Int>, _ value: Range<Int>, _ bytes: Span<UInt8>) -> Bool {
        guard key.count == 1 + Digest.byteCount, let kind = LedgerCodec.Kind(rawValue: bytes[key.lowerBound]),
            let digest = Digest(bytes.extracting(key.dropFirst()))
        else { return false }
        switch kind {
        case .key: return keys.setPlain(KeyID(digest), bytes, in: value, mayBeLate: !readsInOrder)
        case .challenge, .token:
            guard let consumed = ConsumedID(plain: bytes, in: value) else { return false }
            apply(kind == .challenge ? .challenge(digest, consumed) : .token(digest, consumed))
            return true
        case .mark, .rate, .sealingKey, .ban: return false
        }
    }
}

extension ConsumedID {
    /// - Returns: nil for bytes that ``LedgerCodec`` does not write.
    init?(plain bytes: Span<UInt8>, in range: Range<Int>) {
        var reader = PlainReader(range)
        guard reader.head(.map, bytes) == 3, reader.skip(0, bytes), reader.skip(1, bytes), reader.skip(1, bytes),
            let expiresAt = PlainKeyRecord.time(bytes, &reader), reader.skip(2, bytes),
            let request = PlainKeyRecord.digest(bytes, &reader), reader.isAtEnd
        else { return nil }
        self.init(expiresAt: EvaluationTime(milliseconds: expiresAt), request: request)
    }
}
