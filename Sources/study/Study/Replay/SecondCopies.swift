internal import AppCheck
internal import Pipeline
internal import Settings
internal import Streams
internal import Threads

/// Tells records that stand in the captures for a second time, where these overlap.
final class SecondCopies: Sendable {
    private let stage: DecodeStage
    private let places = Locked(PlacesRead())
    /// Copies whose timestamps or headers say something else than the record judged, and the place of the first.
    private let differing = Locked<(count: Int, first: String)>((0, ""))

    init(_ settings: PipelineSettings) {
        var settings = settings
        // Another tool's spaces may take a copy beyond the limit.
        settings.limits.valueBytes = .max
        stage = DecodeStage(settings: settings)
    }

    /// - Returns: false for a copy of a record that was read before.
    /// - Throws: where another request was read from the same place.
    func isNew(_ decoded: DecodedRecord) throws(CommandFault) -> Bool {
        // The stage is looked at for few records: a copy of it counts thirty references.
        let fingerprint = RecordFingerprint(decoded) { stage.bare($0) }
        let finding = places.withLock { places in
            let place = (
                topic: decoded.record.topic, partition: decoded.record.partition, offset: decoded.record.offset
            )
            return places.note(place.topic, place.partition, place.offset, digest: fingerprint.packed)
        }
        switch finding {
        case .new: return true
        case .read(let digest):
            let judged = RecordFingerprint(digest)
            guard judged.request == fingerprint.request else {
                let advice = judged.namesTopic == fingerprint.namesTopic ? Self.advice : Self.topicAdvice
                throw CommandFault(
                    "\(Self.place(decoded)) stands twice in the captures, with different content. \(advice)."
                )
            }
            if !judged.covers(fingerprint) { note(decoded) }
            return false
        case .forgotten:
            throw CommandFault(
                "\(Self.place(decoded)) stands twice in the captures, more than \(places.withLock { $0.comparable }.grouped) records "
                    + "apart, too far to compare them. Name captures that overlap one after the other, or leave one out."
            )
        }
    }

    /// A line where copies differ from what was judged.
    var warnings: [String] {
        let (count, first) = differing.withLock { $0 }
        guard count > 0 else { return [] }
        return [
            "\(count.counted("record", "has", "have")) a second copy with another timestamp, request ID or installation ID, as "
                + "\(first): the first copy was judged. Name the capture that has all of these first. \(Self.advice)"
        ]
    }

    private static let advice =
        "Captures of two clusters, or of a topic that was created again, are not one: replay each on its own"

    private static let topicAdvice =
        "One of the two names no topic and is taken for the first named topic's: replay its capture on its own, "
        + "or add its topic"

    private func note(_ decoded: DecodedRecord) {
        differing.withLock { differing in
            if differing.count == 0 { differing.first = Self.place(decoded) }
            differing.count += 1
        }
    }

    private static func place(_ decoded: DecodedRecord) -> String {
        let record = decoded.record
        let topic = record.topic.isEmpty ? "" : " of \(record.topic.printable)"
        return "partition \(record.partition), offset \(record.offset)\(topic)"
    }
}
