/// A polled record: copied by the log already, or one that a lane copies, or a capture's line that a lane decodes.
package enum PolledRecord: Sendable {
    case record(InboundRecord)
    case uncopied(UncopiedRecord)
    /// Lines are ranges of a shared chunk, so that no line is copied.
    case captureLine(chunk: [UInt8], range: Range<Int>, lineNumber: Int)

    /// nil for a capture's line.
    package var stamp: RecordStamp? {
        switch self {
        case .record(let record): RecordStamp(record)
        case .uncopied(let record): record.stamp
        case .captureLine: nil
        }
    }

    /// The record, copied once at most; nil for a capture's line.
    package func take() -> InboundRecord? {
        switch self {
        case .record(let record): record
        case .uncopied(let record): record.take()
        case .captureLine: nil
        }
    }
}
