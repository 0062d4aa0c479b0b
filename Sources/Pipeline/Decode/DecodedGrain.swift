/// A lane's decoded grain: the polled records up to the first line that is no record.
struct DecodedGrain {
    var records: [DecodedRecord] = []
    var fault: CaptureFault?
    /// Lines that are no record and were left out, as asked.
    var skippedLines = 0
}
