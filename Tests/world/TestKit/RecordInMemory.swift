internal import Pipeline
package import Streams
internal import Threads

/// A source's memory with one record in it, which is taken once.
private final class RecordInMemory: RecordMemory {
    private let record: Locked<InboundRecord?>

    init(_ record: InboundRecord) { self.record = Locked(record) }

    func takeRecord(_ index: Int) -> InboundRecord {
        guard let record = record.withLock({ $0.take() }) else { preconditionFailure("a record is taken once") }
        return record
    }
}

extension PolledRecord {
    /// As Kafka's consumer gives it.
    package static func uncopied(of record: InboundRecord) -> PolledRecord {
        .uncopied(UncopiedRecord(RecordStamp(record), 0, in: RecordInMemory(record)))
    }
}
