internal import Log
internal import Pipeline

/// Finds the captures in which no record has a timestamp: their records are judged as of no time, so all are refused.
struct TimestampWatch {
    private(set) var without: [String] = []
    private var path: String?
    private var hasTime = false

    /// Looks at the records of a capture up to the first with a timestamp.
    mutating func note(_ chunk: [UInt8], _ range: Range<Int>, of path: String) {
        if hasTime, path == self.path { return }
        guard let record = try? CaptureCodec.decode(chunk, in: range) else { return }
        if path != self.path { (self.path, hasTime) = (path, false) }
        hasTime = InboundRecord.timestamps.contains(record.timestamp)
        if hasTime {
            if without.last == path { without.removeLast() }
        } else if without.last != path {
            without.append(path)
        }
    }

    var warnings: [String] {
        without.map {
            "no record of \($0) has a timestamp (ts), so none can be judged: capture them again with a kcat that writes it"
        }
    }
}
