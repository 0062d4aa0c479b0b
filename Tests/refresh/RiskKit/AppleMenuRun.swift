internal import AppAttest
internal import Crypto
package import DeviceLab
internal import JSON
internal import Risk

/// The desk over real receipts of a few keys, the lab's double of Apple's exchange with its faults, and the checks of the
/// worker behind it; until nothing is left to do.
package struct AppleMenuRun {
    package struct Plan: Sendable {
        package var seed: UInt64
        package var keys = 6
        /// Of the calls that Apple would give a receipt for.
        package var share = 0.4
        package var faults = DeviceLab.AppleFault.allCases
        /// Whether refresher and worker take any receipt: what a run must notice.
        package var isCredulous = false

        package init(seed: UInt64) { self.seed = seed }
    }

    /// A record of the topic.
    private struct Entry {
        let device: FakeDevice
        let receipt: [UInt8]
        let dates: ReceiptDates
    }

    private static let start = EvaluationTime(milliseconds: 1_790_000_000_000)
    private static let account = CallAccount(team: "ABCDE12345", environment: .production)
    private static let pairs = ReceiptLine.allCases.map { LinePair(line: $0, partition: 0) }

    private let plan: Plan
    private let ca = LabCA(seed: 5, signer: OracleSigner())
    private let engine = OracleEngine()
    private let verifier: ObjectVerifier
    private var worker: ExchangedReceipts
    private var apple: LabApple
    private var desk: RefreshDesk
    private var random: SeededRandom
    private var topic: [Entry] = []
    private var positions = [0, 0, 0]
    private var ends = EventQueue<DeskCall>()
    private var now = start
    /// What must not be.
    package private(set) var breaches: [String] = []
    /// How often each outcome followed each fault; `none` = the call's own answer.
    package private(set) var outcomes: [String: [String: Int]] = [:]
    package private(set) var accepted = 0
    package private(set) var mostUnfinished = 0

    package init(_ plan: Plan) throws {
        self.plan = plan
        let key = try SigningKey.generate(.p256)
        let team = Self.account.team
        var settings = LabApple.Settings(keys: [
            DeviceCheckKey(team: team, kid: "KEY1234567", publicKey: key.publicKey)
        ])
        (settings.faultShare, settings.faults, settings.seed) = (plan.share, plan.faults, plan.seed)
        apple = LabApple(ca, settings, engine: engine)
        verifier = ObjectVerifier(anchors: try ca.anchors())
        worker = ExchangedReceipts(verifier, engine)
        desk = RefreshDesk(
            lines: LineSettings(),
            callsPerSecond: 1,
            partitions: 1,
            tokens: ProviderTokens([ProviderKey(team: team, kid: "KEY1234567", key: key)].compactMap(\.self))
        )
        random = SeededRandom(seed: plan.seed)
        for pair in Self.pairs { desk.assign(pair, from: 0) }
        for number in 0..<plan.keys {
            let device = FakeDevice(
                ca: ca,
                appID: "ABCDE12345.com.example.app",
                seed: plan.seed &* 64 &+ UInt64(number)
            )
            let time = Self.start.after(milliseconds: Int64(number) * Milliseconds.minute)
            append(device, device.receipt(.attest, clientDataHash: [UInt8](repeating: 7, count: 32), at: time))
        }
    }

    package mutating func run() {
        while step() {}
        if desk.unfinishedCount > 0 { breaches.append("\(desk.unfinishedCount) visits are kept to the end") }
        for pair in Self.pairs where desk.position(of: pair) != Int64(topic.count) {
            breaches.append("\(pair) does not reach the end")
        }
    }

    private mutating func append(_ device: FakeDevice, _ receipt: [UInt8]) {
        guard let dates = ReceiptContent(unverified: receipt).flatMap(ReceiptDates.init) else {
            return breaches.append("a receipt that cannot be read is in the topic")
        }
        topic.append(Entry(device: device, receipt: receipt, dates: dates))
    }

    private mutating func step() -> Bool {
        for pair in Self.pairs {
            while desk.room(of: pair) > 0, positions[pair.line.rawValue] < topic.count {
                let offset = positions[pair.line.rawValue]
                positions[pair.line.rawValue] += 1
                let appointment = LineAppointment(dates: topic[offset].dates, account: Self.account)
                desk.append(LineRecord(offset: Int64(offset), appointment: appointment), to: pair)
            }
        }
        switch desk.next(at: now) {
        case .call(let call):
            ends.add(call, at: now.after(milliseconds: Int64.random(in: 20...2_000, using: &random)))
            mostUnfinished = max(mostUnfinished, desk.unfinishedCount)
        case .wait(let until):
            guard let next = [until, ends.next].compactMap(\.self).min() else { return false }
            now = max(now, next)
            while let call = ends.take(until: now) { end(call) }
        }
        return true
    }

    private mutating func end(_ call: DeskCall) {
        let sent = topic[Int(call.visit.offset)]
        let request = AppleCall(
            method: Array("POST".utf8),
            target: Array(LabApple.path.utf8),
            headers: [(name: Array("authorization".utf8), value: call.grant.text)],
            body: Base64.encode(sent.receipt)
        )
        let answer = apple.answer(request, at: now)
        let (outcome, retryAfter, receipt) = judged(answer, sent)
        let name = answer.fault?.name ?? "none"
        outcomes[name, default: [:]][outcome.name, default: 0] += 1
        if case .verified = outcome, let fault = answer.fault, fault.result != .receipt {
            breaches.append("the refresher takes \(fault.name) for Apple's answer")
        }
        let effect = desk.end(call, outcome, retryAfterMilliseconds: retryAfter, at: now, using: &random)
        guard effect.mustProduce, let receipt else { return }
        if plan.isCredulous || worker.takes(receipt, of: sent.device, exchanged: sent.dates.createdAt, at: now) {
            accepted += 1
            append(sent.device, receipt)
            if let fault = answer.fault, fault.result != .receipt {
                breaches.append("the worker accepts what \(fault.name) brought")
            }
        } else if answer.fault == nil, !worker.hasLater(sent.dates, of: sent.device) {
            breaches.append("the worker refuses Apple's own answer")
        }
        desk.acknowledge(call, isWritten: true, at: now, using: &random)
    }

    /// What a client makes of an answer: it reads a body to its limit, and needs its end.
    private func judged(_ answer: AppleAnswer, _ sent: Entry) -> (CallOutcome, Int64?, [UInt8]?) {
        if case .cut = answer.delivery { return (.transport, nil, nil) }
        let read = ReceiptAnswer(
            status: answer.status,
            headers: answer.headers.map { (name: $0.name, value: Array($0.value.utf8)) },
            body: Array(answer.body.prefix(ReceiptAnswer.mostBodyBytes + 1)),
            at: now
        )
        var received: [UInt8]?
        let outcome = CallOutcome(read) { receipt in
            received = receipt
            if plan.isCredulous { return .success(.accepted) }
            let judgement = RefreshJudgement(
                sent: sent.receipt,
                appID: AppID(sent.device.appID),
                environment: sent.device.environment
            )
            return judgement?.judge(receipt, at: now, by: verifier, engine: engine) ?? .failure(.receipt(.malformed))
        }
        return (outcome, read.retryAfterMilliseconds, received)
    }
}
