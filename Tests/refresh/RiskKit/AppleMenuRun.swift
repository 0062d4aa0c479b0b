internal import AppAttest
internal import Crypto
package import DeviceLab
internal import JSON
internal import Risk

/// The driver over real receipts of a few keys, the lab's double of Apple's exchange with its faults, and the checks of
/// the worker after it; until nothing is left to do.
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

    /// Takes any receipt for Apple's answer.
    private struct Credulous: ReceiptJudge {
        let judge: AppleReceipts

        func summary(of receipt: [UInt8]) -> ReceiptSummary? { judge.summary(of: receipt) }

        func judge(
            _ answer: [UInt8],
            to sent: HeldReceipt,
            at time: EvaluationTime
        ) -> Result<ReceiptVerdict, RefreshRefusal> { .success(.accepted) }
    }

    private static let start = EvaluationTime(milliseconds: 1_790_000_000_000)
    private static let team = "ABCDE12345"
    private static let pairs = ReceiptLine.allCases.map { LinePair(line: $0, partition: 0) }

    private let plan: Plan
    private let ca = LabCA(seed: 5, signer: OracleSigner())
    private let engine = OracleEngine()
    private let judge: any ReceiptJudge
    private var worker: ExchangedReceipts
    private var apple: LabApple
    private var driver: RefreshDriver
    private var random: SeededRandom
    private var topic: [(device: FakeDevice, record: ReceiptRecord)] = []
    private var positions = [0, 0, 0]
    private var ends = EventQueue<ReceiptCall>()
    private var now = start
    /// What must not be.
    package private(set) var breaches: [String] = []
    /// How often each outcome followed each fault; `none` = the call's own answer.
    package private(set) var outcomes: [String: [String: Int]] = [:]
    package private(set) var accepted = 0
    package private(set) var mostOpen = 0

    package init(_ plan: Plan) throws {
        self.plan = plan
        let key = try SigningKey.generate(.p256)
        var settings = LabApple.Settings(keys: [
            DeviceCheckKey(team: Self.team, kid: "KEY1234567", publicKey: key.publicKey)
        ])
        (settings.faultShare, settings.faults, settings.seed) = (plan.share, plan.faults, plan.seed)
        apple = LabApple(ca, settings, engine: engine)
        let verifier = ObjectVerifier(anchors: try ca.anchors())
        worker = ExchangedReceipts(verifier, engine)
        let genuine = AppleReceipts(verifier, engine: engine)
        judge = plan.isCredulous ? Credulous(judge: genuine) : genuine
        let keys = [ProviderKey(team: Self.team, kid: "KEY1234567", key: key)].compactMap(\.self)
        let rules = RefreshRules(keys: keys, apps: [FakeReceipts.app], callsPerSecond: 1)
        driver = RefreshDriver(rules, partitions: 1, judge: judge)
        random = SeededRandom(seed: plan.seed)
        for pair in Self.pairs { driver.assign(pair) }
        for number in 0..<plan.keys {
            let device = FakeDevice(
                ca: ca,
                appID: "\(Self.team).com.example.app",
                seed: plan.seed &* 64 &+ UInt64(number)
            )
            let time = Self.start.after(milliseconds: Int64(number) * Milliseconds.minute)
            append(device, device.receipt(.attest, clientDataHash: [UInt8](repeating: 7, count: 32), at: time))
        }
    }

    package mutating func run() {
        while step() {}
        if driver.openCount > 0 { breaches.append("\(driver.openCount) calls are open at the end") }
        for line in ReceiptLine.allCases {
            let end = driver.takePositions(of: line).first?.position
            if end != Int64(topic.count) { breaches.append("line \(line.name) does not reach the end") }
        }
    }

    private mutating func append(_ device: FakeDevice, _ receipt: [UInt8]) {
        guard let dates = ReceiptContent(unverified: receipt).flatMap(ReceiptDates.init) else {
            return breaches.append("a receipt that cannot be read is in the topic")
        }
        let simulated = SimulatedReceipt(key: 1, dates: dates)
        var record = FakeReceipts.record(simulated, offset: Int64(topic.count))
        (record.key, record.value) = (Base64.encode(device.keyID.bytes), receipt)
        topic.append((device, record))
    }

    private mutating func step() -> Bool {
        for pair in Self.pairs {
            for offset in positions[pair.line.rawValue]..<topic.count {
                driver.take(topic[offset].record, of: pair, at: now)
            }
            positions[pair.line.rawValue] = topic.count
        }
        switch driver.next(at: now) {
        case .call(let call):
            ends.add(call, at: now.after(milliseconds: Int64.random(in: 20...2_000, using: &random)))
            mostOpen = max(mostOpen, driver.openCount)
        case .wait(let until):
            guard let next = [until, ends.next].compactMap(\.self).min() else { return false }
            now = max(now, next)
            while let call = ends.take(until: now) { end(call) }
        }
        return true
    }

    private mutating func end(_ call: ReceiptCall) {
        let device = topic[Int(call.offset)].device
        let request = AppleCall(
            method: Array("POST".utf8),
            target: Array(LabApple.path.utf8),
            headers: [(name: Array("authorization".utf8), value: call.token)],
            body: Base64.encode(call.receipt.bytes)
        )
        let answer = apple.answer(request, at: now)
        let reply = reply(answer)
        var receipt: [UInt8] = []
        let outcome = reply.outcome { bytes in
            receipt = bytes
            return judge.judge(bytes, to: call.receipt, at: now)
        }
        let name = answer.fault?.name ?? "none"
        outcomes[name, default: [:]][outcome.name, default: 0] += 1
        let isWrong = answer.fault.map { $0.result != .receipt } ?? false
        if case .verified = outcome, isWrong { breaches.append("the refresher takes \(name) for Apple's answer") }
        guard driver.end(call.number, reply, at: now) != nil else { return }
        let sent = call.receipt.dates
        if plan.isCredulous || worker.takes(receipt, of: device, exchanged: sent.createdAt, at: now) {
            accepted += 1
            append(device, receipt)
            if isWrong { breaches.append("the worker accepts what \(name) brought") }
        } else if answer.fault == nil, !worker.hasLater(sent, of: device) {
            breaches.append("the worker refuses Apple's own answer")
        }
        driver.acknowledge(call.number, isWritten: true, at: now)
    }

    /// What a client makes of an answer: it reads a body to its limit, and needs its end.
    private func reply(_ answer: AppleAnswer) -> CallReply {
        if case .cut = answer.delivery { return .failed }
        return .answered(
            ReceiptAnswer(
                status: answer.status,
                headers: answer.headers.map { (name: $0.name, value: Array($0.value.utf8)) },
                body: Array(answer.body.prefix(ReceiptAnswer.mostBodyBytes + 1)),
                at: now
            )
        )
    }
}
