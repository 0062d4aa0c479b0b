internal import Streams

/// A record as kafka-console-consumer prints it, its parts between tabs:
/// `LogAppendTime:5 Partition:1 Offset:2 request-id:r,a:b KEY VALUE`.
enum ConsoleLine {
    private static let advice =
        "kafka-console-consumer printed a part of the record: set its properties print.timestamp, print.partition, "
        + "print.offset, print.headers and print.key to true, no other, and leave its separators"

    /// - Returns: nil for a line of another tool.
    static func record(_ line: ArraySlice<UInt8>) throws(CaptureCodec.Fault) -> InboundRecord? {
        let beginnings = ["CreateTime:", "LogAppendTime:", "NO_TIMESTAMP\t", "Partition:", "Offset:"]
        guard beginnings.contains(where: { line.starts(with: $0.utf8) }) else { return nil }
        // A value may have tabs.
        let parts = line.split(separator: UInt8(ascii: "\t"), maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count == 6, let headers = headers(parts[3]), let offset = number(parts[2], "Offset:"),
            let partition = number(parts[1], "Partition:").flatMap({ Int32(exactly: $0) }),
            let timestamp = parts[0].elementsEqual("NO_TIMESTAMP".utf8)
                ? -1 : number(parts[0], "CreateTime:") ?? number(parts[0], "LogAppendTime:")
        else { throw CaptureCodec.Fault(reason: advice) }
        return InboundRecord(
            topic: "",
            partition: partition,
            offset: offset,
            timestamp: timestamp,
            key: bytes(parts[4]),
            value: bytes(parts[5]),
            headers: headers
        )
    }

    private static func number(_ part: ArraySlice<UInt8>, _ name: String) -> Int64? {
        let digits = part.dropFirst(name.utf8.count)
        guard part.starts(with: name.utf8), (1...18).contains(digits.count),
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return digits.reduce(0) { 10 * $0 + Int64($1 - 0x30) }
    }

    /// The tool prints nothing else for what is absent.
    private static func bytes(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        text.elementsEqual("null".utf8) ? nil : Array(text)
    }

    /// A comma may be a value's own: then no name follows it.
    private static func headers(_ text: ArraySlice<UInt8>) -> [RecordHeader]? {
        guard !text.elementsEqual("NO_HEADERS".utf8) else { return [] }
        var pairs: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
        for part in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            if let colon = part.firstIndex(of: UInt8(ascii: ":")) {
                pairs.append((part[..<colon], part[(colon + 1)...]))
            } else if let last = pairs.popLast() {
                pairs.append((last.name, text[last.value.startIndex..<part.endIndex]))
            } else {
                return nil
            }
        }
        return pairs.map { RecordHeader(name: Array($0.name), value: bytes($0.value)) }
    }
}
