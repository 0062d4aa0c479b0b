internal import AppAttest
internal import Crypto
internal import Log
internal import Pipeline
internal import Settings

/// Tells records that stand in the captures for a second time, where these overlap.
final class SecondCopies: Sendable {
    private let places = Locked(PlacesRead())

    /// - Returns: false for a copy of a record that was read before.
    /// - Throws: where another record was read from the same place.
    func isNew(_ decoded: DecodedRecord) throws(CommandFault) -> Bool {
        let record = decoded.record
        let digest = Self.digest(decoded)
        switch places.withLock({ $0.note(record.topic, record.partition, record.offset, digest: digest) }) {
        case .new: return true
        case .copy: return false
        case .other:
            throw CommandFault(
                "\(Self.place(decoded)) stands twice in the captures, with different content. Captures of two clusters, "
                    + "or of a topic that was created again, are not one: replay each on its own."
            )
        case .forgotten:
            throw CommandFault(
                "\(Self.place(decoded)) stands twice in the captures, more than \(places.withLock { $0.comparable }.grouped) records "
                    + "apart, too far to compare them. Name captures that overlap one after the other, or leave one out."
            )
        }
    }

    /// Of all that a worker reads of a record.
    private static func digest(_ decoded: DecodedRecord) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(decoded.record.timestamp)
        hasher.combine(decoded.valueDigest)
        for text in [decoded.record.key, decoded.requestID.utf8, decoded.installationID?.utf8] {
            hasher.combine(text?.count ?? -1)
            // The hasher reads the bytes during the call. All at once: byte by byte takes as long as the lookup.
            unsafe text?.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    private static func place(_ decoded: DecodedRecord) -> String {
        let record = decoded.record
        let topic = record.topic.isEmpty ? "" : " of \(record.topic.printable)"
        return "partition \(record.partition), offset \(record.offset)\(topic)"
    }
}
