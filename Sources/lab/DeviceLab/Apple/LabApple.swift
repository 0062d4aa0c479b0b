package import AppAttest
package import Crypto
internal import JSON

/// The double of Apple's receipt exchange (`POST /v1/attestationData`) in one environment, for the receipts of one lab
/// authority.
///
/// It learns of a key from the key's receipts alone, and takes the leaf's issue for the time of its attestation. The same
/// settings and the same calls at the same times give the same answers.
package struct LabApple {
    package static let path = "/v1/attestationData"

    package struct Settings: Sendable {
        package var environment = Environment.production
        package var keys: [DeviceCheckKey]
        package var dates = ReceiptSpans()
        /// Whether a receipt that was exchanged before is exchanged again, or gets 304 until the Not Before of the newest
        /// receipt of its key: Apple does not say.
        package var exchangesAgain = true
        /// The share of calls whose answer has a fault, 0 to 1.
        package var faultShare = 0.0
        package var faults = AppleFault.allCases
        package var seed: UInt64 = 1

        package init(keys: [DeviceCheckKey]) { self.keys = keys }
    }

    /// How many calls came, and how they were answered.
    package struct Account: Sendable, Equatable {
        package var calls = 0
        /// Answers that were others than their calls deserved.
        package var faults = 0
        package var statuses: [Int: Int] = [:]

        package init() {}
    }

    package let settings: Settings
    package private(set) var account = Account()
    private let ca: LabCA
    private let verifier: ObjectVerifier
    private let engine: any SignatureEngine
    private var attested = AttestedKeys()
    /// The dates of the newest receipt that was given for each key.
    private var newest: [KeyID: (createdAt: EvaluationTime, notBefore: EvaluationTime)] = [:]
    private var burst: (fault: AppleFault, left: Int)?

    /// - Parameter engine: verifies the signatures of `ca`'s receipts.
    package init(_ ca: LabCA, _ settings: Settings, engine: any SignatureEngine = OpenSSLEngine()) {
        guard let anchors = try? ca.anchors() else { preconditionFailure("a lab authority's roots are anchors") }
        (self.ca, self.settings, self.engine) = (ca, settings, engine)
        verifier = ObjectVerifier(anchors: anchors)
    }

    package mutating func answer(_ call: AppleCall, at now: EvaluationTime) -> AppleAnswer {
        var random = random(account.calls)
        let fault = fault(&random)
        var answer = fault?.answerInstead ?? answer(call, fault, &random, at: now)
        if fault?.answerInstead != nil { answer.fault = fault }
        let trace = Hexadecimal.encode(CBORBytes.bigEndian(random.next(), 8))
        answer.headers.append((name: "X-B3-TraceId", value: trace))
        account.calls += 1
        account.statuses[answer.status, default: 0] += 1
        if answer.fault != nil { account.faults += 1 }
        return answer
    }

    /// The answer that the call deserves, changed by the fault if it is a receipt.
    private mutating func answer(
        _ call: AppleCall,
        _ fault: AppleFault?,
        _ random: inout SeededRandom,
        at now: EvaluationTime
    ) -> AppleAnswer {
        do throws(AppleRefusal) {
            var exchange = try exchange(call, at: now)
            if let fault { fault.edit(&exchange, ca, &random) }
            let receipt = exchange.answered ?? ca.receipt(exchange.facts, isForeign: exchange.isForeign)
            var answer = AppleAnswer(status: 200, headers: [("Content-Type", "base64")], body: Base64.encode(receipt))
            if let fault { fault.edit(&answer) }
            answer.fault = fault
            return answer
        } catch { return error.answer }
    }

    private mutating func exchange(_ call: AppleCall, at now: EvaluationTime) throws(AppleRefusal) -> AppleExchange {
        let (receipt, sent) = try judged(call, at: now)
        guard let key = sent.publicKey.map(KeyID.init(of:)), let leafStart = sent.leafNotBefore else {
            throw .badPayload
        }
        let number = sent.token.flatMap { HardwareToken.hardware($0, secret: ca.secret) }
        let hardware = number.map(AttestedKeys.Hardware.number) ?? .key(key)
        // Apple dates a leaf a day back.
        attested.note(key, of: hardware, for: sent.appID, at: leafStart + 86_400)
        let metric = attested.count(of: hardware, for: sent.appID, at: now)
        guard metric > 0 else { throw .noData }
        guard sent.notBefore.map({ $0 <= now }) ?? true, mayExchange(sent, key, at: now) else { throw .notModified }
        if !settings.exchangesAgain { newest[key] = (now, now + settings.dates.notBeforeSeconds) }
        let facts = ReceiptFacts(
            refreshing: sent,
            environment: settings.environment,
            metric: metric,
            at: now,
            settings.dates
        )
        return AppleExchange(sent: receipt, content: sent, facts: facts)
    }

    /// The receipt that was sent, if token and receipt belong together.
    private func judged(
        _ call: AppleCall,
        at now: EvaluationTime
    ) throws(AppleRefusal) -> (receipt: [UInt8], content: ReceiptContent) {
        guard call.target.prefix(while: { $0 != UInt8(ascii: "?") }).elementsEqual(Self.path.utf8) else {
            throw .noSuchPath
        }
        guard call.method.elementsEqual("POST".utf8) else { throw .method }
        let key = try ProviderToken(call.values("authorization")).key(among: settings.keys, at: now)
        // Standard base64 with its padding: no other text gives the same bytes.
        guard let receipt = Base64.decode(call.body), Base64.encode(receipt) == call.body,
            let sent = genuine(receipt, at: now)
        else { throw .badPayload }
        guard key.opens(sent.appID) else { throw .tokenOtherTeam }
        guard sent.environment == settings.environment else { throw .incorrectEnvironment }
        guard now <= sent.expiresAt else { throw .expired }
        return (receipt, sent)
    }

    /// Whether this receipt may be exchanged now, once or again.
    private func mayExchange(_ sent: ReceiptContent, _ key: KeyID, at now: EvaluationTime) -> Bool {
        guard let last = newest[key], sent.createdAt < last.createdAt else { return true }
        return last.notBefore <= now
    }

    /// The content of a receipt of this authority, expired or not; nil for any other bytes.
    private func genuine(_ receipt: [UInt8], at now: EvaluationTime) -> ReceiptContent? {
        guard let content = ReceiptContent(unverified: receipt), let environment = content.environment,
            let appID = ExactText(validating: content.appID)
        else { return nil }
        let expectations = ReceiptExpectations(appIDs: [AppID(appID.shown)], environments: [environment])
        let verdict = verifier.prepareReceipt(receipt, expectations: expectations, at: now).verified(by: engine)
        guard let refusal = try? verdict.get().refusal else { return content }
        return refusal == .expired ? content : nil
    }

    private func random(_ call: Int) -> SeededRandom {
        var seeds = SeededRandom(seed: settings.seed)
        return SeededRandom(seed: seeds.next() ^ UInt64(call))
    }

    private mutating func fault(_ random: inout SeededRandom) -> AppleFault? {
        let (share, choice, length) = (random.next(), random.next(), random.next())
        if let (fault, left) = burst {
            burst = left > 1 ? (fault, left - 1) : nil
            return fault
        }
        let isFaulty = Double(share >> 11) < settings.faultShare * Double(UInt64(1) << 53)
        guard isFaulty, !settings.faults.isEmpty else { return nil }
        let fault = settings.faults[Int(choice % UInt64(settings.faults.count))]
        if fault.isBurst {
            let range = AppleFault.burstCalls
            let calls = range.lowerBound + Int(length % UInt64(range.count))
            burst = (fault, calls - 1)
        }
        return fault
    }
}
