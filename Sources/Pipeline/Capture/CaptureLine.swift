internal import JSON
internal import Log

/// The members of a capture's line, each checked.
enum CaptureLine {
    typealias Fault = CaptureCodec.Fault

    /// A line's nodes are bounded by its length; a record with thousands of headers must still be readable.
    private static let limits = JSONLimits(nodes: 1 << 20, names: 1 << 16, nameBytes: 256)

    static func object(_ chunk: [UInt8], in range: Range<Int>?) throws(Fault) -> JSONNode {
        let root: JSONNode
        do throws(JSONFault) {
            var beginning: JSONBeginning?
            root = try JSONDocument(
                parsing: chunk,
                in: range,
                limits,
                allowInvalidUTF8: true,
                beginning: &beginning
            ).root
        } catch {
            throw Fault(reason: "invalid JSON at byte \(error.offset): \(describe(error.code))")
        }
        guard root.kind == .object else { throw Fault(reason: "not a JSON object") }
        guard !root.hasDuplicateMembers else { throw Fault(reason: "two members with the same name") }
        return root
    }

    /// Leaves `topic` unchanged if the line has the same one.
    static func readTopic(_ root: JSONNode, into topic: inout String) throws(Fault) {
        guard let node = root["topic"] else { return topic = "" }
        guard !node.holds(topic.utf8Span.span) else { return }
        guard let read = node.string else { throw Fault(reason: "topic is not a UTF-8 string") }
        topic = read
    }

    static func partition(_ root: JSONNode) throws(Fault) -> Int32 {
        guard let number = root["partition"]?.integer, number >= 0, let partition = Int32(exactly: number) else {
            throw Fault(reason: "partition is not an integer from 0 to 2147483647")
        }
        return partition
    }

    static func offset(_ root: JSONNode) throws(Fault) -> Int64 {
        guard let offset = root["offset"]?.integer, offset >= 0 else {
            throw Fault(reason: "offset is not an integer >= 0")
        }
        return offset
    }

    /// −1 where the broker had none.
    static func timestamp(_ root: JSONNode) throws(Fault) -> Int64 {
        guard let node = root["ts"] else { return -1 }
        guard let timestamp = node.integer, timestamp >= -1 else {
            throw Fault(reason: "ts is not an integer >= -1")
        }
        return timestamp
    }

    static func bytes(_ text: JSONNode?, base64: JSONNode?, name: String) throws(Fault) -> [UInt8]? {
        if let base64 {
            guard text == nil else { throw Fault(reason: "both \(name) and \(name)Base64") }
            guard let bytes = base64.base64Bytes else {
                throw Fault(reason: "\(name)Base64 is not base64")
            }
            return bytes
        }
        guard let text, text.kind != .null else { return nil }
        guard let bytes = text.stringBytes else { throw Fault(reason: "\(name) is neither a string nor null") }
        return bytes
    }

    /// A flat array: name, value, name, value, …
    static func headers(_ node: JSONNode?) throws(Fault) -> [RecordHeader] {
        guard let node, node.kind != .null else { return [] }
        guard node.kind == .array else { throw Fault(reason: "headers is not an array") }
        let texts = node.elements
        guard texts.count.isMultiple(of: 2) else { throw Fault(reason: "headers has a name without a value") }
        var headers: [RecordHeader] = []
        headers.reserveCapacity(texts.count / 2)
        for index in stride(from: 0, to: texts.count, by: 2) {
            guard let name = try headerText(texts[index]) else { throw Fault(reason: "a header's name is null") }
            headers.append(RecordHeader(name: name, value: try headerText(texts[index + 1])))
        }
        return headers
    }

    private static func headerText(_ node: JSONNode) throws(Fault) -> [UInt8]? {
        switch node.kind {
        case .null: return nil
        case .string: return node.stringBytes
        case .object:
            guard node.members.count == 1, let bytes = node["base64"]?.base64Bytes
            else { throw Fault(reason: "a header's object is not {\"base64\": …}") }
            return bytes
        default: throw Fault(reason: "a header is not a string")
        }
    }

    private static func describe(_ code: JSONFault.Code) -> String {
        switch code {
        case .syntax: "syntax error"
        case .invalidUTF8: "invalid UTF-8"
        case .tooDeep: "too deep"
        case .tooManyNodes: "too many values"
        case .tooManyMembers: "too many members"
        case .nameTooLong: "a member's name is too long"
        case .leftover: "text after the object"
        case .empty: "empty line"
        }
    }
}
