internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import Risk
internal import RiskKit

/// The desk over receipts of four hours, some of which are another team's, and a key that may be revoked for a while.
struct RefusedReceiptRun {
    struct Plan {
        var seed: UInt64
        /// Numbers of the receipts that Apple refuses whatever the token.
        var foreign: Set<Int> = []
        /// In milliseconds since the start; at its end a reload brings another key.
        var revocation: Range<Int64>?
    }

    static let receipts = 400
    private static let partitions = 3
    private static let span = 4 * Milliseconds.hour

    private let plan: Plan
    private let keys: [ProviderKey]
    private var desk: RefreshDesk
    private var random: SeededRandom
    private var ends = EventQueue<DeskCall>()
    private var records: [(createdAt: Int64, number: Int)] = []
    private var now = Sample.start
    /// How often each receipt was sent.
    private(set) var calls = [Int](repeating: 0, count: receipts)
    /// When the first call with each token began, for either key.
    private(set) var tokens: [[(text: [UInt8], at: EvaluationTime)]] = [[], []]
    private(set) var breakers: [CallBreaker.Change] = []
    /// The receipts whose visits ended by their refusals.
    private(set) var refused: [Int] = []
    /// Answers 401 until the key is replaced, from its revocation on.
    private(set) var refusals = 0
    private var hasReloaded = false

    init(_ plan: Plan) throws {
        self.plan = plan
        let signer = try SigningKey.generate(.p256)
        keys = ["OLD", "NEW"].compactMap { ProviderKey(team: Sample.account.team, kid: $0, key: signer) }
        random = SeededRandom(seed: plan.seed)
        desk = RefreshDesk(
            lines: LineSettings(),
            callsPerSecond: 15,
            partitions: Self.partitions,
            tokens: ProviderTokens([keys[0]])
        )
        for partition in 0..<Self.partitions {
            desk.assign(LinePair(line: .first, partition: Int32(partition)), from: 0)
        }
        let times = (0..<Self.receipts).map { _ in Int64.random(in: 0..<Self.span, using: &random) }.sorted()
        records = times.enumerated().map { (createdAt: $0.element, number: $0.offset) }
    }

    /// Whether every visit has ended.
    var isDone: Bool {
        desk.unfinishedCount == 0
            && desk.pairs.allSatisfy { pair in
                let own = (0..<Self.receipts).count { $0 % Self.partitions == Int(pair.partition) }
                return desk.position(of: pair) == Int64(own)
            }
    }

    mutating func run() {
        let end = Sample.at(Self.span + 4 * Milliseconds.hour)
        while now < end {
            append()
            if let until = plan.revocation?.upperBound, !hasReloaded, now >= Sample.at(until) {
                hasReloaded = true
                desk.reload([keys[1]], at: now)
            }
            switch desk.next(at: now) {
            case .call(let call): begin(call)
            case .wait(let until):
                let change = plan.revocation.flatMap { hasReloaded ? nil : Sample.at($0.upperBound) }
                let record = records.first.map { Sample.at($0.createdAt) }.flatMap { $0 > now ? $0 : nil }
                guard let next = [until, ends.next, record, change].compactMap(\.self).min() else { return }
                now = max(now, next)
                while let call = ends.take(until: now) { finish(call) }
            }
        }
    }

    private mutating func append() {
        while let record = records.first, Sample.at(record.createdAt) <= now {
            let pair = LinePair(line: .first, partition: Int32(record.number % Self.partitions))
            guard desk.room(of: pair) > 0 else { return }
            let offset = Int64(record.number / Self.partitions)
            desk.append(Sample.record(offset, Sample.attest(record.createdAt)), to: pair)
            records.removeFirst()
        }
    }

    private func number(_ call: DeskCall) -> Int {
        Int(call.visit.offset) * Self.partitions + Int(call.pair.partition)
    }

    private mutating func begin(_ call: DeskCall) {
        calls[number(call)] += 1
        let key = hasReloaded ? 1 : 0
        if !tokens[key].contains(where: { $0.text == call.grant.text }) {
            tokens[key].append((call.grant.text, now))
        }
        ends.add(call, at: now.after(milliseconds: Int64.random(in: 20...3_000, using: &random)))
    }

    private mutating func finish(_ call: DeskCall) {
        let isOld = tokens[0].contains { $0.text == call.grant.text }
        let isRevoked = plan.revocation.map { isOld && now >= Sample.at($0.lowerBound) } ?? false
        if isRevoked { refusals += 1 }
        let isRefused = isRevoked || plan.foreign.contains(number(call))
        let effect = desk.end(call, isRefused ? .unauthorized : .early, at: now, using: &random)
        if let change = effect.breaker { breakers.append(change) }
        if effect.endsRefused { refused.append(number(call)) }
    }
}
