/// A polled record: decoded by the log already, or a capture's line that a lane decodes.
package enum PolledRecord: Sendable {
    case record(InboundRecord)
    /// Lines are ranges of a shared chunk, so that no line is copied.
    case captureLine(chunk: [UInt8], range: Range<Int>, lineNumber: Int)
}
