/// A record that lies in the log's own memory until a lane copies it. Copies of this value are the same record.
package struct UncopiedRecord: Sendable {
    package let stamp: RecordStamp
    private let memory: any RecordMemory
    private let index: Int

    package init(_ stamp: RecordStamp, _ index: Int, in memory: any RecordMemory) {
        (self.stamp, self.index, self.memory) = (stamp, index, memory)
    }

    /// Copies the record and frees its memory. Once, on any thread.
    package func take() -> InboundRecord { memory.takeRecord(index) }
}

/// Memory of the log with records in it.
package protocol RecordMemory: AnyObject, Sendable {
    /// Copies a record and frees its memory. Once, on any thread.
    func takeRecord(_ index: Int) -> InboundRecord
}
