internal import AppAttest
internal import Crypto
internal import JSON

extension StockClient {
    /// Starts operations for the waiting wishes until one of them has a call to make.
    mutating func startNext(at time: EvaluationTime) -> StockReply {
        var reply = StockReply()
        while operation == nil, !waiting.isEmpty {
            let isLimitedUse = waiting.removeFirst()
            var wishes = 1
            if !isLimitedUse {
                // One session token is enough for all wishes for one.
                wishes += waiting.count { !$0 }
                waiting.removeAll { !$0 }
            }
            if let end = backoff.end(at: time) {
                reply.outcomes += Array(repeating: .backingOff(until: end), count: wishes)
                continue
            }
            let step: StockCall.Kind = artifact == nil ? .challengeForAttestation : .challengeForAssertion
            operation = Operation(isLimitedUse: isLimitedUse, wishes: wishes, step: step)
            reply.call = challengeCall(step)
        }
        return reply
    }

    /// Goes on after a 2xx answer.
    mutating func proceed(_ body: [UInt8], at time: EvaluationTime) throws(StockAnswer.Unreadable) -> StockReply {
        let running = openOperation
        let answer = StockAnswer(body: body, isLimitedUse: running.isLimitedUse, time: time)
        switch running.step {
        case .challengeForAttestation:
            return StockReply(call: attestationCall(challenge: try answer.challenge(), at: time))
        case .challengeForAssertion where isKeyElsewhere:
            // Apple's invalidKey.
            (device, artifact, isKeyElsewhere) = (nil, nil, false)
            return fail(.keyIsElsewhere, at: time)
        case .challengeForAssertion: return StockReply(call: assertionCall(challenge: try answer.challenge()))
        case .attestation:
            let (artifact, token) = try answer.attestation()
            self.artifact = artifact
            return succeed(token, at: time)
        case .assertion: return succeed(try answer.assertion(), at: time)
        }
    }

    /// Goes on after an HTTP error.
    mutating func refuse(status: Int, at time: EvaluationTime) -> StockReply {
        let running = openOperation
        let isHandshake = running.step == .challengeForAttestation || running.step == .attestation
        if status == 403, isHandshake {
            // Never on a refresh: a refused assertion does not make the SDK attest again.
            (device, artifact) = (nil, nil)
            if !running.hasStartedOver {
                operation?.hasStartedOver = true
                operation?.step = .challengeForAttestation
                return StockReply(call: challengeCall(.challengeForAttestation))
            }
        }
        return fail(.refused(status: status), status: status, at: time)
    }

    mutating func fail(_ outcome: StockOutcome, status: Int = 0, at time: EvaluationTime) -> StockReply {
        backoff.fail(status: status, at: time, using: &random)
        return end(with: outcome, at: time)
    }

    private mutating func succeed(_ token: StockToken, at time: EvaluationTime) -> StockReply {
        backoff.succeed()
        if !token.isLimitedUse { session = token }
        return end(with: .token(token), at: time)
    }

    private mutating func end(with outcome: StockOutcome, at time: EvaluationTime) -> StockReply {
        let outcomes = Array(repeating: outcome, count: openOperation.wishes)
        operation = nil
        var reply = startNext(at: time)
        reply.outcomes = outcomes + reply.outcomes
        return reply
    }

    private var openOperation: Operation {
        guard let operation else { preconditionFailure("an answer belongs to an open call") }
        return operation
    }

    // MARK: Calls

    /// A handshake without a key makes one at once, in parallel to the challenge.
    private mutating func challengeCall(_ kind: StockCall.Kind) -> StockCall {
        if kind == .challengeForAttestation, device == nil {
            device = FakeDevice(model, seed: random.next())
            keysMade += 1
        }
        return call(kind, body: nil)
    }

    private mutating func attestationCall(challenge: [UInt8], at time: EvaluationTime) -> StockCall {
        let device = ownDevice
        let hash = SHA256.hash(challenge).bytes
        let object = device.attest(clientDataHash: hash, at: appleTime ?? time, fault: attestationFault)
        return exchange(
            .attestation,
            ["key_id": device.keyID.bytes, "attestation_statement": object, "challenge": challenge]
        )
    }

    private mutating func assertionCall(challenge: [UInt8]) -> StockCall {
        var device = ownDevice
        guard let artifact else { preconditionFailure("a refresh has an artifact") }
        let object = device.assert(clientDataHash: SHA256.hash(artifact + challenge).bytes, fault: assertionFault)
        self.device = device
        return exchange(.assertion, ["artifact": artifact, "assertion": object, "challenge": challenge])
    }

    private mutating func exchange(_ kind: StockCall.Kind, _ members: KeyValuePairs<String, [UInt8]>) -> StockCall {
        let body = StockBody(members, limitedUse: openOperation.isLimitedUse)
        operation?.step = kind
        return call(kind, body: body.bytes(using: &random))
    }

    private func call(_ kind: StockCall.Kind, body: [UInt8]?) -> StockCall {
        StockCall(
            kind: kind,
            path: "/v1/\(resource):\(kind.verb)",
            body: body,
            keyID: body == nil ? nil : device?.keyID,
            installationID: installationID
        )
    }

    private var ownDevice: FakeDevice {
        guard let device else { preconditionFailure("a key is made before it attests or asserts") }
        return device
    }
}

/// The SDKs' request bodies: snake_case, standard padded base64 in which `/` is escaped as NSJSONSerialization does,
/// and members in no reliable order.
package struct StockBody {
    private var members: [[UInt8]] = []

    package init() {}

    /// - Parameter base64: the members' bytes.
    package init(_ base64: KeyValuePairs<String, [UInt8]>, limitedUse: Bool? = nil) {
        for (name, bytes) in base64 { add(name, base64: bytes) }
        if let limitedUse { add("limited_use", limitedUse) }
    }

    /// - Parameter name: snake_case.
    package mutating func add(_ name: String, base64 bytes: [UInt8]) {
        let text = Base64.encode(bytes).flatMap { byte in
            byte == UInt8(ascii: "/") ? [UInt8(ascii: "\\"), byte] : [byte]
        }
        add(name, text: text)
    }

    /// - Parameter text: ASCII without quotes and backslashes, as a JWT is.
    package mutating func add(_ name: String, text: [UInt8]) {
        members.append(Array("\"\(name)\":\"".utf8) + text + [UInt8(ascii: "\"")])
    }

    package mutating func add(_ name: String, _ flag: Bool) { members.append(Array("\"\(name)\":\(flag)".utf8)) }

    /// - Parameter random: gives the order.
    package func bytes(using random: inout SeededRandom) -> [UInt8] {
        let shuffled = members.shuffled(using: &random)
        return [UInt8(ascii: "{")] + Array(shuffled.joined(separator: [UInt8(ascii: ",")])) + [UInt8(ascii: "}")]
    }
}
