internal import AppAttest
internal import JSON
internal import Streams

/// The members of a capture's line, each checked: kcat's, and where one of them is absent the one that other tools write
/// for it: `rpk topic consume`, kaf, and the exports of Kafka UI, AKHQ and Redpanda Console.
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

    /// The tool that alone writes such records, for messages; nil where several do.
    static func tool(of root: JSONNode) -> String? {
        if isOfConsole(root) { return "Redpanda Console" }
        if root["headers"]?.elements.first?["Key"] != nil { return "kaf" }
        let hasDecimals = root["timestamp"].map { $0.kind == .number && $0.integer == nil } ?? false
        return hasDecimals || root["topic"]?.kind == .object ? "AKHQ" : nil
    }

    /// Redpanda Console has an object around each text.
    private static func isOfConsole(_ root: JSONNode) -> Bool { root["partitionID"] != nil }

    /// Leaves `topic` unchanged if the line has the same one.
    static func readTopic(_ root: JSONNode, into topic: inout String) throws(Fault) {
        guard let node = root["topic"]?["name"] ?? root["topic"] ?? root["Topic"] else { return topic = "" }
        guard !node.holds(topic.utf8Span.span) else { return }
        guard let read = node.string else { throw Fault(reason: "topic is not a UTF-8 string") }
        topic = read
    }

    static func partition(_ root: JSONNode) throws(Fault) -> Int32 {
        guard let number = (root["partition"] ?? root["Partition"] ?? root["partitionID"])?.integer, number >= 0,
            let partition = Int32(exactly: number)
        else {
            throw Fault(reason: "partition is not an integer from 0 to 2147483647")
        }
        return partition
    }

    static func offset(_ root: JSONNode) throws(Fault) -> Int64 {
        guard let offset = (root["offset"] ?? root["Offset"])?.integer, offset >= 0 else {
            throw Fault(reason: "offset is not an integer >= 0")
        }
        return offset
    }

    /// −1 where the broker had none.
    static func timestamp(_ root: JSONNode) throws(Fault) -> Int64 {
        guard let node = root["ts"] else { return try foreignTimestamp(root["timestamp"] ?? root["Timestamp"]) }
        guard let timestamp = node.integer, timestamp >= -1 else {
            throw Fault(reason: "ts is not an integer >= -1")
        }
        return try milliseconds(timestamp, "ts")
    }

    /// Seconds of the years 2014 to 2096: as milliseconds they are days of 1970, before any record.
    static let timesInSeconds: ClosedRange<Int64> = 1_400_000_000...4_000_000_000

    private static func milliseconds(_ timestamp: Int64, _ name: String) throws(Fault) -> Int64 {
        guard !timesInSeconds.contains(timestamp) else {
            throw Fault(reason: "\(name) \(timestamp) is in seconds: a capture has milliseconds")
        }
        return max(-1, timestamp)
    }

    /// Milliseconds, as rpk writes them, RFC 3339, as Kafka UI does, or seconds with a fraction, as AKHQ does. A time before
    /// 1970 stands for none: the millisecond before it is Kafka's −1, and the year 1 is what tools write for a time that is
    /// not set.
    private static func foreignTimestamp(_ node: JSONNode?) throws(Fault) -> Int64 {
        guard let node, node.kind != .null else { return -1 }
        let time = node.stringBytes.flatMap { RFC3339.time($0)?.milliseconds } ?? node.numberText.flatMap(seconds)
        if let time { return max(-1, time) }
        guard let timestamp = node.integer else {
            throw Fault(reason: "timestamp is neither an integer nor a time such as 2026-11-20T12:00:00Z")
        }
        return try milliseconds(timestamp, "timestamp")
    }

    private static func seconds(_ text: String) -> Int64? {
        let parts = text.split(separator: ".")
        guard parts.count == 2, parts[1].allSatisfy(\.isNumber), let seconds = Int64(parts[0]),
            let thousandths = Int64((parts[1] + "00").prefix(3))
        else { return nil }
        return EvaluationTime(seconds: seconds).milliseconds.clampedAdding(thousandths)
    }

    static func key(_ root: JSONNode) throws(Fault) -> [UInt8]? {
        if isOfConsole(root) { return try wrapped(root["key"]) }
        return try bytes(root["key"] ?? root["Key"], base64: root["keyBase64"], name: "key")
    }

    /// An object or an array is what a tool has made of the text: the bytes are those that stand for it in the line.
    static func payload(_ root: JSONNode) throws(Fault) -> [UInt8]? {
        if isOfConsole(root) { return try wrapped(root["value"]) }
        let base64 = root["payloadBase64"]
        var node = root["payload"]
        if node == nil, base64 == nil { node = root["value"] ?? root["Value"] ?? root["content"] }
        if let node, node.kind == .object || node.kind == .array, base64 == nil { return node.writtenText }
        return try bytes(node, base64: base64, name: "payload")
    }

    /// A part of a record of Redpanda Console, which may have its base64 beside what was made of it.
    private static func wrapped(_ node: JSONNode?) throws(Fault) -> [UInt8]? {
        guard let node, node["isPayloadNull"]?.bool != true else { return nil }
        if let raw = node["rawPayload"] {
            guard let bytes = raw.base64Bytes else { throw Fault(reason: "rawPayload is not base64") }
            return bytes
        }
        guard let payload = node["payload"], payload.kind != .null else { return nil }
        return payload.stringBytes ?? payload.writtenText
    }

    private static func bytes(_ text: JSONNode?, base64: JSONNode?, name: String) throws(Fault) -> [UInt8]? {
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

    /// A flat array: name, value, name, value, …; or other tools' array of objects, or their object.
    static func headers(_ root: JSONNode) throws(Fault) -> [RecordHeader] {
        guard let node = root["headers"] ?? root["Headers"], node.kind != .null else { return [] }
        if node.kind == .object {
            return try node.members.map { member throws(Fault) in
                RecordHeader(name: member.name, value: try headerText(member.value))
            }
        }
        guard node.kind == .array else { throw Fault(reason: "headers is neither an array nor an object") }
        let texts = node.elements
        if let first = texts.first, first.kind == .object, first["key"] ?? first["Key"] != nil {
            return try pairs(texts)
        }
        guard texts.count.isMultiple(of: 2) else { throw Fault(reason: "headers has a name without a value") }
        var headers: [RecordHeader] = []
        headers.reserveCapacity(texts.count / 2)
        for index in stride(from: 0, to: texts.count, by: 2) {
            headers.append(try header(texts[index], texts[index + 1]))
        }
        return headers
    }

    private static func pairs(_ nodes: [JSONNode]) throws(Fault) -> [RecordHeader] {
        try nodes.map { node throws(Fault) in
            if let name = node["Key"] {
                // Of kaf.
                let hasValue = (node["Value"]?.kind ?? .null) != .null
                guard let bytes = name.base64Bytes, !hasValue || node["Value"]?.base64Bytes != nil
                else { throw Fault(reason: "a header's Key or Value is not base64") }
                return RecordHeader(name: bytes, value: node["Value"]?.base64Bytes)
            }
            guard let name = node["key"] else { throw Fault(reason: "a header has no key") }
            if let value = node["value"], value.kind == .object, value["base64"] == nil, let name = name.stringBytes {
                return RecordHeader(name: name, value: try wrapped(value))
            }
            return try header(name, node["value"])
        }
    }

    private static func header(_ name: JSONNode, _ value: JSONNode?) throws(Fault) -> RecordHeader {
        guard let name = try headerText(name) else { throw Fault(reason: "a header's name is null") }
        return RecordHeader(name: name, value: try value.flatMap { node throws(Fault) in try headerText(node) })
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
        case .trailingBytes: "text after the object"
        case .empty: "empty line"
        }
    }
}

/// A capture's line that is not a record.
package struct CaptureFault: Error, Equatable, Sendable {
    package let lineNumber: Int
    package let reason: String
}
