internal import JSON
package import Streams

/// Captures: what `kcat -C -J` prints, one JSON object per line.
package enum CaptureCodec {
    package struct Fault: Error, Equatable, Sendable {
        package let reason: String
    }

    /// Reads one line (without its newline), or a record's JSON over several. Unknown members are ignored;
    /// `payloadBase64`, `keyBase64` and a header value `{"base64": …}` are accepted, and so are other tools' names for
    /// kcat's members; bytes in strings that are not UTF-8 are read as they are.
    ///
    /// Defaults of missing members: `topic` empty, `ts` −1, no `headers`, `key` and `payload` null. `partition` and
    /// `offset` are required.
    ///
    /// - Parameter range: the line's range in `chunk`; nil = all of it.
    package static func decode(_ chunk: [UInt8], in range: Range<Int>? = nil) throws(Fault) -> InboundRecord {
        var topic = ""
        return try decode(chunk, in: range, lastTopic: &topic)
    }

    /// - Parameter lastTopic: the topic of the line before, which most lines repeat.
    static func decode(
        _ chunk: [UInt8],
        in range: Range<Int>?,
        lastTopic: inout String
    ) throws(Fault) -> InboundRecord {
        if let record = try ConsoleLine.record(chunk[range ?? chunk.indices]) { return record }
        let root = try CaptureLine.object(chunk, in: range)
        do throws(Fault) {
            try CaptureLine.readTopic(root, into: &lastTopic)
            return InboundRecord(
                topic: lastTopic,
                partition: try CaptureLine.partition(root),
                offset: try CaptureLine.offset(root),
                timestamp: try CaptureLine.timestamp(root),
                key: try CaptureLine.key(root),
                value: try CaptureLine.payload(root),
                headers: try CaptureLine.headers(root)
            )
        } catch {
            guard let tool = CaptureLine.tool(of: root) else { throw error }
            throw Fault(reason: "\(error.reason), in a record of \(tool)")
        }
    }

    /// Appends one line and a newline: members in kcat's order, base64 members where bytes are not UTF-8.
    ///
    /// A timestamp of −1 and an empty list of headers are left out, as kcat does; `tstype` is `logappend`, the type of
    /// the requests topic.
    package static func encode(_ record: InboundRecord, into output: inout [UInt8]) {
        var buffer: [UInt8] = []
        swap(&buffer, &output)
        var writer = JSONWriter(appendingTo: buffer)
        buffer = []
        writer.beginObject()
        writer.member("topic", record.topic)
        write(record.partition, record.offset, record.timestamp, to: &writer)
        write(record.headers, to: &writer)
        end(record.key, record.value, in: &writer)
        output = writer.takeBytes()
    }

    /// The lines of one stream's records.
    private struct Lines {
        /// Every line's, with the topic's name.
        let beginning: [UInt8]
        var writer: JSONWriter

        mutating func append(_ output: OutboundRecord) {
            writer.raw(beginning)
            CaptureCodec.write(output.partition, output.sourceOffset, output.sourceTimestamp, to: &writer)
            CaptureCodec.writeHeaders(of: output, to: &writer)
            CaptureCodec.end(output.key, output.value, in: &writer)
        }
    }

    /// The lines of outgoing records by their streams, with their sources' offsets and timestamps.
    ///
    /// Each record changes places with the one before it: a copy of each would count eight references.
    ///
    /// - Parameter topics: a stream without one has no lines.
    package static func encode(_ records: consuming [OutboundRecord], topics: [OutputTopic: String]) -> [PackedOutput] {
        var lines = OutputTopic.allCases.map { stream in
            topics[stream].flatMap { begun(with: $0, room: room(for: stream, of: records)) }
        }
        var record = OutboundRecord(.markForgotten, partition: 0)
        for index in records.indices {
            swap(&record, &records[index])
            lines[record.stream.place]?.append(record)
        }
        return OutputTopic.allCases.compactMap { stream in
            (lines[stream.place]?.writer.takeBytes()).map { PackedOutput(stream: stream, bytes: $0) }
        }
    }

    /// The bytes that the lines of a stream take at most, but for rare escapes.
    private static func room(for stream: OutputTopic, of records: borrowing [OutboundRecord]) -> Int {
        // Elements of a span are read in place.
        let outputs = records.span
        var room = 0
        for index in outputs.indices where outputs[index].stream == stream {
            // A quarter for escapes, and the frame of a record with the usual headers; asking for their length copies it.
            room += 5 * ((outputs[index].key?.count ?? 0) + (outputs[index].value?.count ?? 0)) / 4 + 352
        }
        return room
    }

    private static func begun(with topic: String, room: Int) -> Lines? {
        guard room > 0 else { return nil }
        var start = JSONWriter(capacity: 64)
        start.beginObject()
        start.member("topic", topic)
        // The room that the last string may ask for.
        return Lines(beginning: start.takeBytes(), writer: JSONWriter(capacity: room + 2048))
    }

    private static func write(_ partition: Int32, _ offset: Int64, _ timestamp: Int64, to writer: inout JSONWriter) {
        writer.syntax(",\"partition\":")
        writer.value(partition)
        writer.syntax(",\"offset\":")
        writer.value(offset)
        if timestamp != -1 {
            writer.syntax(",\"tstype\":\"logappend\",\"ts\":")
            writer.value(timestamp)
        }
    }

    private static func end(_ key: [UInt8]?, _ value: [UInt8]?, in writer: inout JSONWriter) {
        write(key, name: "key", base64Name: "keyBase64", to: &writer)
        write(value, name: "payload", base64Name: "payloadBase64", to: &writer)
        writer.endObject()
        writer.newline()
    }

    private static func write(
        _ bytes: [UInt8]?,
        name: StaticString,
        base64Name: StaticString,
        to writer: inout JSONWriter
    ) {
        guard let bytes else {
            writer.key(name)
            return writer.null()
        }
        if UTF8Text.isValid(bytes) {
            writer.member(name, validUTF8: bytes)
        } else {
            writer.member(base64Name, base64: bytes)
        }
    }

    private static func write(_ headers: [RecordHeader], to writer: inout JSONWriter) {
        guard !headers.isEmpty else { return }
        writer.key("headers")
        writer.beginArray()
        writeElements(headers, to: &writer)
        writer.endArray()
    }

    /// Writes ``Streams/OutboundRecord/headers`` without making that list.
    private static func writeHeaders(of record: OutboundRecord, to writer: inout JSONWriter) {
        let status = record.namedStatus
        let namesRequest = record.stream.namesRequest && record.requestID != nil
        guard namesRequest || status != nil || !record.otherHeaders.isEmpty else { return }
        writer.key("headers")
        writer.beginArray()
        if namesRequest, let id = record.requestID {
            writer.string("request-id")
            writeHeaderText(id, to: &writer)
        }
        if let status {
            writer.string("status")
            writer.string(String(status))
        }
        writeElements(record.otherHeaders, to: &writer)
        writer.endArray()
    }

    private static func writeElements(_ headers: [RecordHeader], to writer: inout JSONWriter) {
        for header in headers {
            writeHeaderText(header.name, to: &writer)
            if let value = header.value { writeHeaderText(value, to: &writer) } else { writer.null() }
        }
    }

    private static func writeHeaderText(_ bytes: [UInt8], to writer: inout JSONWriter) {
        guard !UTF8Text.isValid(bytes) else { return writer.string(validUTF8: bytes) }
        writer.beginObject()
        writer.member("base64", base64: bytes)
        writer.endObject()
    }
}
