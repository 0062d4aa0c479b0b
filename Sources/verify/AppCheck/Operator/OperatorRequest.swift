internal import AppAttest
internal import Crypto
internal import JSON

/// A command as a request: `{"path": "v1/operator:ban", "body": {…}}`.
package enum OperatorRequest {
    private static let prefix = "v1/operator:"

    static func path(_ verb: OperatorCommand.Action) -> String { prefix + verb.rawValue }

    /// The verb of a path, with or without a slash in front; nil for any other path.
    package static func verb(of path: [UInt8]) -> OperatorCommand.Action? {
        let path = path.first == UInt8(ascii: "/") ? path.dropFirst() : path[...]
        return OperatorCommand.Action.allCases.first { path.elementsEqual(Self.path($0).utf8) }
    }

    /// A record's value.
    package static func value(_ command: OperatorCommand, _ key: OperatorKey) -> [UInt8] {
        var json = JSONWriter(capacity: 384)
        json.beginObject()
        json.member("path", path(command.action))
        json.key("body")
        json.beginObject()
        switch command.subject {
        case .key(let keyID): json.member("keyId", base64: keyID.bytes)
        case .installation(let id): json.member("installation", base64: id.bytes)
        }
        if command.keepsBan { json.member("keepBan", true) }
        if let until = command.until { json.member("until", until.milliseconds) }
        if let partition = command.partition { json.member("partition", partition) }
        json.member("issuedAt", command.issuedAt.milliseconds)
        json.member("nonce", base64: command.nonce)
        json.member("key", base64: key.id.bytes)
        json.member("code", base64: key.code(command).bytes)
        json.endObject()
        json.endObject()
        return json.takeBytes()
    }

    /// - Throws: `unknown-method` for everything that no operator wrote: a stranger learns nothing.
    static func read(
        _ verb: OperatorCommand.Action,
        _ body: JSONNode?,
        _ keys: OperatorKeys
    ) throws(Reason) -> AuthenticCommand {
        guard let body, body.kind == .object, !body.hasDuplicateMembers, let subject = subject(body),
            let issuedAt = body["issuedAt"]?.integer, let nonce = body["nonce"]?.base64Bytes,
            nonce.count == OperatorCommand.nonceBytes,
            let key = body["key"]?.base64Bytes.flatMap({ SealingKeyID($0.span) }),
            let code = body["code"]?.base64Bytes
        else { throw .unknownMethod }
        let time = EvaluationTime(milliseconds: issuedAt)
        var command = OperatorCommand(verb, subject, issuedAt: time, nonce: nonce)
        if let partition = body["partition"] {
            guard let number = partition.integer.flatMap({ Int32(exactly: $0) }), number >= 0 else {
                throw .unknownMethod
            }
            command.partition = number
        }
        if let until = body["until"] {
            guard let number = until.integer else { throw .unknownMethod }
            command.until = EvaluationTime(milliseconds: number)
        }
        command.keepsBan = body["keepBan"]?.bool ?? false
        guard isWhole(command) else { throw .unknownMethod }
        return try keys.authenticate(command, key: key, code: code)
    }

    private static func subject(_ body: JSONNode) -> OperatorCommand.Subject? {
        let (key, installation) = (body["keyId"], body["installation"])
        guard key == nil || installation == nil, let bytes = (key ?? installation)?.base64Bytes,
            let digest = Digest(bytes.span)
        else { return nil }
        return key == nil ? .installation(digest) : .key(KeyID(digest))
    }

    /// Nothing but a key is forgotten, nothing but a ban ends, after it began and at a time that the ledger can write;
    /// and an installation's command is for one partition.
    private static func isWhole(_ command: OperatorCommand) -> Bool {
        if let until = command.until {
            let isWritable = EvaluationTime.writable.contains(until.milliseconds)
            guard command.action == .ban, isWritable, until > command.issuedAt else { return false }
        }
        if command.keepsBan, command.action != .forget { return false }
        switch command.subject {
        case .key: return true
        case .installation: return command.action != .forget && command.partition != nil
        }
    }
}
