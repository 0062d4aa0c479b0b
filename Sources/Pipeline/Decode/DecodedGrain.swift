/// A lane's decoded grain: the polled records up to the first line that is not a record.
struct DecodedGrain {
    var records: [DecodedRecord] = []
    var fault: CaptureFault?
    /// Lines that are not records and were left out, as asked.
    var skippedLines = 0
}
