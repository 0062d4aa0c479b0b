internal import AppAttest
internal import AppCheck
internal import Streams

/// The record around a request.
extension Comparison {
    static func headers(of record: InboundRecord, _ limits: RequestLimits) -> Comparison {
        let bytes = record.headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) }
        let id = record.headers.last { $0.name.elementsEqual("request-id".utf8) }
        let idText = id.map { Counted.text($0.value?.count ?? 0, "byte") } ?? "absent"
        let count = Counted.text(record.headers.count, "header")
        let presented = "\(count) of \(Counted.text(bytes, "byte")), request-id \(idText)"
        return Comparison(
            "headers",
            record.hasReadableHeaders ? presented : "unreadable",
            expected: "at most \(HeaderReading.maxHeaders) headers of \(limits.headerBytes) bytes, "
                + "request-id absent or 1 to \(limits.requestIDBytes) bytes of UTF-8"
        )
    }

    static func text(_ bytes: [UInt8]) -> String {
        let beginning = Array(bytes.prefix(300))
        return ExactText(validating: beginning).map { "\($0)" } ?? ReportValue.bytes(beginning).description
    }

    /// A record's time beside the limits by the wall clock.
    static func age(of record: InboundRecord, at now: EvaluationTime, _ clock: ClockSettings) -> Comparison {
        let ends = [now.milliseconds - clock.maxAgeMilliseconds, now.milliseconds + clock.maxAheadMilliseconds]
        let span = ends.map { ReportValue.time(EvaluationTime(milliseconds: $0)).description }
        let time = EvaluationTime(milliseconds: record.timestamp)
        return Comparison("record's time", .time(time), expected: .text("\(span[0]) to \(span[1])"))
    }
}
