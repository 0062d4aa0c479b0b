/// What the pipeline reads from a record's headers.
struct HeaderReading {
    /// The last `request-id`; nil where there is none.
    var requestID: String?
    var traceHeaders: [RecordHeader] = []

    /// - Returns: nil for headers over the limits or a request id (the last one; no other is looked at) that is empty,
    ///   too long or no UTF-8.
    init?(_ headers: [RecordHeader], headerBytes: Int, requestIDBytes: Int) {
        var total = 0
        var last: RecordHeader?
        for header in headers {
            total += header.name.count + (header.value?.count ?? 0)
            if header.name.elementsEqual("request-id".utf8) {
                last = header
            } else if header.name.elementsEqual("traceparent".utf8) || header.name.elementsEqual("tracestate".utf8) {
                traceHeaders.append(header)
            }
        }
        guard total <= headerBytes else { return nil }
        guard let last else { return }
        guard let value = last.value, !value.isEmpty, value.count <= requestIDBytes,
            let text = String(validating: value, as: UTF8.self)
        else { return nil }
        requestID = text
    }
}
