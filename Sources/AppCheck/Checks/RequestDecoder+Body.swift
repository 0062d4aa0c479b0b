internal import AppAttest
internal import JSON

/// The members of a body, by the decoder's own readers.
extension RequestDecoder {
    func check(body: JSONNode?, of target: RequestTarget, _ list: inout RequestCheckList) throws(Reason) {
        let method = target.method
        let expected = method == .generateAppAttestChallenge ? "an object, or none" : "an object, each member once"
        let isObject = body?.kind == .object
        let presented =
            isObject ? body?.hasDuplicateMembers == true ? "two members of one name" : "an object" : "no object"
        var members: RequestBody?
        try list.add("body", Comparison("body", presented, expected: expected)) { () throws(Reason) in
            if method == .generateAppAttestChallenge { return try RequestBody.checkEmpty(body) }
            members = try RequestBody(body)
        }
        guard let members, let body else { return }
        switch method {
        case .generateAppAttestChallenge: return
        case .verifyAttestation, .exchangeAppAttestAttestation:
            try list.add("keyId", Self.member(body, "keyId", "key_id", "base64 of 32 bytes")) { () throws(Reason) in
                _ = try members.keyID()
            }
            let object = Self.member(body, "attestationStatement", "attestation_statement", "base64")
            try list.add("attestationStatement", object) { () throws(Reason) in _ = try members.attestation() }
        case .verifyAssertion, .exchangeAppAttestAssertion:
            try checkAssertion(body, members, isExchange: method.isExchange, &list)
        case .exchangeDebugToken: return try checkDebugToken(body, members, &list)
        case .verifyAppCheckToken: return try checkToken(body, members, &list)
        }
        if method.isExchange { return try checkExchange(body, members, &list) }
        try checkHash(body, members, hashLength(target), &list)
    }

    private func checkAssertion(
        _ body: JSONNode,
        _ members: RequestBody,
        isExchange: Bool,
        _ list: inout RequestCheckList
    ) throws(Reason) {
        if isExchange {
            let artifact = Self.member(body, "artifact", nil, "base64 of an artifact of this worker, version 1")
            try list.add("artifact", artifact) { () throws(Reason) in
                // Which key an artifact names is judged last, after the members.
                _ = try members.artifact()
            }
        } else {
            try list.add("keyId", Self.member(body, "keyId", "key_id", "base64 of 32 bytes")) { () throws(Reason) in
                _ = try members.keyID()
            }
        }
        let object = Self.member(body, "assertion", nil, "base64")
        try list.add("assertion", object) { () throws(Reason) in _ = try members.assertion() }
    }

    private func checkExchange(
        _ body: JSONNode,
        _ members: RequestBody,
        _ list: inout RequestCheckList
    ) throws(Reason) {
        let challenge = Self.member(body, "challenge", nil, "base64 of at least 1 byte")
        let limited = Self.member(body, "limitedUse", "limited_use", "true, false or absent")
        let isLimitedUseRead = body["limitedUse"]?.bool != nil || body["limited_use"]?.bool != nil
        let isChallengeRead = body["challenge"]?.base64Bytes?.isEmpty == false
        // One reader for both: the row of the one that is wrong.
        let shown = isChallengeRead && !isLimitedUseRead ? limited : challenge
        try list.add(shown.name, shown) { () throws(Reason) in _ = try members.exchange() }
        guard let artifact = try? members.artifact() else { return }
        let version = artifact.first.map { ", version \($0)" } ?? ""
        let expected = "an artifact of this worker: version 1, with a key ID, a nonce and a tag"
        let row = Comparison("artifact", "\(Counted.text(artifact.count, "byte"))\(version)", expected: expected)
        try list.add("artifact's form", row) { () throws(Reason) in
            guard KeyID(unverifiedArtifact: artifact) != nil else { throw .artifactInvalid }
        }
    }

    private func checkHash(
        _ body: JSONNode,
        _ members: RequestBody,
        _ length: ClientDataHashLength,
        _ list: inout RequestCheckList
    ) throws(Reason) {
        let count: String
        switch length {
        case .bytes(let bytes): count = "\(Counted.text(bytes, "byte"))"
        case .any: count = "1 to \(limits.clientDataHashBytes) bytes"
        }
        let expected =
            "either clientDataHash, base64 of \(count), or clientData, base64 of up to "
            + "\(limits.clientDataBytes) bytes"
        let hash = Self.member(body, "clientDataHash", "client_data_hash", expected)
        let data = Self.member(body, "clientData", "client_data", expected)
        let presented = "clientDataHash \(hash.presented), clientData \(data.presented)"
        let row = Comparison("client data", presented, expected: expected)
        try list.add("client data", row) { () throws(Reason) in _ = try members.clientDataHash(limits, length) }
    }

    private func checkDebugToken(
        _ body: JSONNode,
        _ members: RequestBody,
        _ list: inout RequestCheckList
    ) throws(Reason) {
        let isText = (body["debugToken"] ?? body["debug_token"])?.kind == .string
        let expected = "a text, with limitedUse true, false or absent"
        let row = Comparison("debugToken", isText ? "a text" : "no text", expected: expected)
        try list.add("debugToken", row) { () throws(Reason) in _ = try members.debugToken() }
    }

    private func checkToken(
        _ body: JSONNode,
        _ members: RequestBody,
        _ list: inout RequestCheckList
    ) throws(Reason) {
        let isText = (body["appCheckToken"] ?? body["app_check_token"])?.kind == .string
        let expected = "a text: a JWT of at most \(UnverifiedToken.maxBytes) bytes whose payload has a jti"
        let row = Comparison("appCheckToken", isText ? "a text that is none" : "no text", expected: expected)
        try list.add("appCheckToken", row) { () throws(Reason) in _ = try RequestContent(tokenCheck: members) }
    }

    /// What a member holds: its size, never its content.
    private static func member(_ body: JSONNode, _ name: String, _ other: String?, _ expected: String) -> Comparison {
        let found = body.members.filter { member in
            member.value.kind != .null
                && (member.name == Array(name.utf8) || member.name == other.map { Array($0.utf8) })
        }
        let presented: String
        switch (found.count, found.first?.value) {
        case (0, _), (_, nil): presented = "absent"
        case (1, let value?):
            switch value.kind {
            case .string:
                let bytes = value.base64Bytes
                presented =
                    bytes.map { "\(Counted.text($0.count, "byte"))" }
                    ?? "\(Counted.text(value.writtenBytes, "character")) that are no base64"
            case .bool: presented = value.bool == true ? "true" : "false"
            default: presented = "a value of another type"
            }
        default: presented = "under both spellings"
        }
        return Comparison(name, presented, expected: expected)
    }
}
