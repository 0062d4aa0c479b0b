internal import JSON

/// The value of a request's record.
enum RequestValue {
    /// - Parameters:
    ///   - path: with its slash, decoded.
    ///   - body: as it was received; empty for a challenge.
    /// - Returns: nil for a body that is not a JSON value: placed in a record, it could end the body and go on.
    static func make(_ path: [UInt8], _ body: [UInt8]) -> [UInt8]? {
        var json = JSONWriter(capacity: path.count + body.count + 64)
        json.beginObject()
        json.key("path")
        json.string(utf8: Array(path.dropFirst()))
        if !body.isEmpty {
            var beginning: JSONBeginning?
            guard (try? JSONDocument(parsing: body, .record, beginning: &beginning)) != nil else { return nil }
            json.key("body")
            json.raw(body)
        }
        json.endObject()
        return json.takeBytes()
    }
}
