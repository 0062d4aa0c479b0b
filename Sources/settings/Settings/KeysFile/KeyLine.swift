internal import AppAttest
internal import Crypto
internal import JSON
internal import Pipeline

/// One line of a KEYS file, its members checked one by one.
enum KeyLine {
    typealias Fault = KeysFile.Fault

    private static let members: Set<String> = [
        "keyId", "publicKey", "appleAppId", "environment", "counter", "app", "nonce", "issued", "lastRequest",
        "banned", "risk", "skippedCounters", "unseenCounters", "lastUse",
    ]
    private static let requestMembers: Set<String> = ["id", "valueSha256", "verdict", "iat", "exp"]
    /// The times of issue, from 1950, where X.509's two-digit years begin, to the end of 9999.
    private static let issueSeconds: ClosedRange<Int64> = -631_152_000...253_402_300_799

    static func decode(_ line: [UInt8]) throws(Fault) -> ImportedKey {
        let root: JSONNode
        do throws(JSONFault) { root = try JSONDocument(parsing: line, maxDepth: 4, maxNodes: 128).root } catch {
            throw Fault(reason: "invalid JSON at byte \(error.offset)")
        }
        try check(root, members, "the line")
        let key = try digest(required(root, "keyId"), "keyId")
        guard let environment = Environment(rawValue: try string(required(root, "environment"), "environment"))
        else { throw Fault(reason: "environment is neither production nor development") }
        guard let counter = root["counter"]?.integer.flatMap({ UInt32(exactly: $0) })
        else { throw Fault(reason: "counter is not an integer from 0 to \(UInt32.max)") }
        var imported = ImportedKey(
            keyID: KeyID(key),
            publicKeyBytes: try publicKey(required(root, "publicKey")),
            appleAppID: try string(required(root, "appleAppId"), "appleAppId"),
            environment: environment,
            counter: counter,
            app: try optional(root, "app").map { node throws(Fault) in try string(node, "app") },
            nonce: try optional(root, "nonce").map { node throws(Fault) in try digest(node, "nonce") },
            issued: try optional(root, "issued").map { node throws(Fault) in try issued(node) },
            lastRequest: try optional(root, "lastRequest").map { node throws(Fault) in try lastRequest(node) }
        )
        if let node = optional(root, "banned") { (imported.bannedSince, imported.bannedUntil) = try banned(node) }
        imported.risk = try optional(root, "risk").map { node throws(Fault) in try risk(node) }
        if let node = optional(root, "skippedCounters") {
            imported.skippedCounters = try skippedCounters(node, below: counter)
        }
        if let node = optional(root, "unseenCounters") {
            guard let number = node.integer.flatMap({ UInt8(exactly: $0) }), number > 0,
                number == KeyCounters(highest: counter, unseen: number).unseen
            else { throw Fault(reason: "unseenCounters is not an integer from 1 to 64, or 255") }
            imported.unseenCounters = number
        }
        if let node = optional(root, "lastUse") {
            imported.lastUse = UInt32(try time(node, "lastUse", in: 1...Int64(UInt32.max)))
        }
        return imported
    }

    /// `{"notBefore", "serial"}` of the leaf of the last accepted attestation; seconds since 1970 and its serial number.
    private static func issued(_ node: JSONNode) throws(Fault) -> IssueTime {
        try check(node, ["notBefore", "serial"], "issued")
        let notBefore = try time(node["notBefore"], "issued: notBefore", in: issueSeconds)
        guard let serial = node["serial"]?.integer, serial >= 0 else {
            throw Fault(reason: "issued: serial is not an integer from 0 to \(Int64.max)")
        }
        return IssueTime(notBefore: EvaluationTime(milliseconds: notBefore * 1000), serial: serial)
    }

    /// `{"since", "until"?}`, in seconds since 1970.
    private static func banned(_ node: JSONNode) throws(Fault) -> (since: Int64, until: Int64?) {
        try check(node, ["since", "until"], "banned")
        let times = ImportedKey.banTimes
        let until = try optional(node, "until").map { node throws(Fault) in try time(node, "banned: until", in: times) }
        return (try time(node["since"], "banned: since", in: times), until)
    }

    private static func time(_ node: JSONNode?, _ name: String, in range: ClosedRange<Int64>) throws(Fault) -> Int64 {
        guard let time = node?.integer, range.contains(time)
        else { throw Fault(reason: "\(name) is not a time in seconds since 1970") }
        return time
    }

    /// `{"metric", "createdAt"}`, the latter in seconds since 1970.
    private static func risk(_ node: JSONNode) throws(Fault) -> RiskMetric {
        try check(node, ["metric", "createdAt"], "risk")
        guard let value = node["metric"]?.integer.flatMap({ UInt16(exactly: $0) }) else {
            throw Fault(reason: "risk: metric is not an integer from 0 to \(UInt16.max)")
        }
        let createdAt = try time(node["createdAt"], "risk: createdAt", in: 1...Int64(UInt32.max))
        return RiskMetric(value, createdAt: UInt32(createdAt))
    }

    private static func skippedCounters(_ node: JSONNode, below highest: UInt32) throws(Fault) -> [UInt32] {
        guard node.kind == .array else { throw Fault(reason: "skippedCounters is not an array") }
        let elements = node.elements
        let counters = elements.compactMap { $0.integer.flatMap { UInt32(exactly: $0) } }
        guard counters.count == elements.count, KeyCounters(highest: highest, skipped: counters) != nil else {
            let most = KeyCounters.mostBehind
            throw Fault(reason: "skippedCounters has one that is not from 1 to \(most) below counter, or not above 0")
        }
        return counters
    }

    static func encode(_ key: ImportedKey, into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("keyId", base64: key.keyID.bytes)
        writer.member("publicKey", base64: key.publicKeyBytes)
        writer.member("appleAppId", key.appleAppID)
        writer.member("environment", key.environment.rawValue)
        writer.member("counter", key.counter)
        if let app = key.app { writer.member("app", app) }
        if let nonce = key.nonce { writer.member("nonce", base64: nonce.bytes) }
        if let issued = key.issued {
            writer.key("issued")
            writer.beginObject()
            writer.member("notBefore", issued.notBefore.milliseconds / 1000)
            writer.member("serial", issued.serial)
            writer.endObject()
        }
        if let request = key.lastRequest { encode(request, into: &writer) }
        if let since = key.bannedSince {
            writer.key("banned")
            writer.beginObject()
            writer.member("since", since)
            if let until = key.bannedUntil { writer.member("until", until) }
            writer.endObject()
        }
        if let risk = key.risk {
            writer.key("risk")
            writer.beginObject()
            writer.member("metric", UInt32(risk.value))
            writer.member("createdAt", risk.createdAt)
            writer.endObject()
        }
        if !key.skippedCounters.isEmpty {
            writer.key("skippedCounters")
            writer.beginArray()
            for counter in key.skippedCounters { writer.value(counter) }
            writer.endArray()
        }
        if key.unseenCounters != 0 { writer.member("unseenCounters", UInt32(key.unseenCounters)) }
        if key.lastUse != 0 { writer.member("lastUse", key.lastUse) }
        writer.endObject()
        writer.newline()
    }

    private static func encode(_ request: ImportedKey.LastRequest, into writer: inout JSONWriter) {
        writer.key("lastRequest")
        writer.beginObject()
        writer.member("id", request.id)
        writer.member("valueSha256", base64: request.valueSHA256.bytes)
        writer.member("verdict", request.verdict)
        if let issuedAt = request.issuedAt { writer.member("iat", issuedAt) }
        if let expiresAt = request.expiresAt { writer.member("exp", expiresAt) }
        writer.endObject()
    }

    private static func lastRequest(_ node: JSONNode) throws(Fault) -> ImportedKey.LastRequest {
        try check(node, requestMembers, "lastRequest")
        do throws(Fault) { return try request(node) } catch { throw Fault(reason: "lastRequest: \(error.reason)") }
    }

    private static func request(_ node: JSONNode) throws(Fault) -> ImportedKey.LastRequest {
        return ImportedKey.LastRequest(
            id: try string(required(node, "id"), "id"),
            valueSHA256: try digest(required(node, "valueSha256"), "valueSha256"),
            verdict: try string(required(node, "verdict"), "verdict"),
            issuedAt: try optional(node, "iat").map { node throws(Fault) in try seconds(node, "iat") },
            expiresAt: try optional(node, "exp").map { node throws(Fault) in try seconds(node, "exp") }
        )
    }

    /// A misspelled member would silently lift a check (a key without `app` is bound by its first accepted request).
    private static func check(_ node: JSONNode, _ known: Set<String>, _ place: String) throws(Fault) {
        guard node.kind == .object else { throw Fault(reason: "\(place) is not a JSON object") }
        guard !node.hasDuplicateMembers else { throw Fault(reason: "\(place) has two members with the same name") }
        for member in node.members {
            let name = String(decoding: member.name, as: UTF8.self)
            guard known.contains(name) else { throw Fault(reason: "unknown member \(name.printable)") }
        }
    }

    /// A member that may be absent or null.
    private static func optional(_ node: JSONNode, _ name: StaticString) -> JSONNode? {
        node[name].flatMap { $0.kind == .null ? nil : $0 }
    }

    private static func required(_ node: JSONNode, _ name: StaticString) throws(Fault) -> JSONNode {
        guard let value = node[name] else { throw Fault(reason: "\(name) is missing") }
        return value
    }

    private static func string(_ value: JSONNode, _ name: StaticString) throws(Fault) -> String {
        guard let text = value.string, !text.isEmpty else { throw Fault(reason: "\(name) is not a non-empty string") }
        return text
    }

    private static func bytes(_ value: JSONNode, _ name: StaticString) throws(Fault) -> [UInt8] {
        guard let text = value.stringBytes, let bytes = Base64.decode(text)
        else { throw Fault(reason: "\(name) is not base64") }
        return bytes
    }

    /// The 65 bytes of a point, however it is written; other bytes as they are.
    private static func publicKey(_ value: JSONNode) throws(Fault) -> [UInt8] {
        let text = value.stringBytes ?? []
        let read = try text.starts(with: "-----BEGIN".utf8) ? text : bytes(value, "publicKey")
        guard read.count != P256PublicKey.byteCount, let key = P256PublicKey(anyForm: read) else { return read }
        return key.x963
    }

    private static func digest(_ value: JSONNode, _ name: StaticString) throws(Fault) -> Digest {
        guard let digest = Digest(try bytes(value, name)) else { throw Fault(reason: "\(name) does not have 32 bytes") }
        return digest
    }

    private static func seconds(_ value: JSONNode, _ name: StaticString) throws(Fault) -> Int64 {
        guard let seconds = value.integer, seconds >= 0 else { throw Fault(reason: "\(name) is not an integer >= 0") }
        return seconds
    }
}
