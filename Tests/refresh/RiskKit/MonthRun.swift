internal import AppAttest
internal import Crypto
internal import DeviceLab
package import Risk

/// A month of receipts in a topic that is computed and not stored, so that what grows is the desk's. For tests, at
/// a small number, and for measurements.
package struct MonthRun: Sendable {
    package struct Plan: Sendable {
        package var receipts: Int
        package var partitions = 12
        package var days: Int64 = 30
        package var callsPerSecond: Double
        package var seed: UInt64 = 1
        /// `late` comes within the month.
        package var lines = LineSettings(late: 14 * Milliseconds.day)

        /// - Parameter callsPerSecond: nil = twice of what the receipts need.
        package init(receipts: Int, callsPerSecond: Double? = nil) {
            self.receipts = receipts
            self.callsPerSecond = callsPerSecond ?? max(0.2, Double(receipts) * 3 / (30 * 86_400))
        }
    }

    /// What a run did: equal for equal plans.
    package struct Tally: Sendable, Equatable {
        package var records = 0
        package var calls = 0
        package var verified = 0
        package var kept = 0
        /// The longest that a visit was behind its time, in milliseconds.
        package var longestLag: Int64 = 0
        package var mostUnfinished = 0
        package var mostPrefetched = 0
        package var early = 0
        /// A hash over pair, offset and time of each call in its order.
        package var digest: UInt64 = 0xCBF2_9CE4_8422_2325
        /// By line.
        package var visits = [0, 0, 0]

        fileprivate mutating func mix(_ value: Int64) {
            digest = (digest ^ UInt64(bitPattern: value)) &* 0x100_0000_01B3
        }
    }

    private static let account = CallAccount(team: "ABCDE12345", environment: .production)

    private let plan: Plan
    private let pairs: [LinePair]
    private var desk: RefreshDesk
    private var random: SeededRandom
    private var ends = EventQueue<DeskCall>()
    /// Beside `pairs`: the next offset to read.
    private var offsets: [Int64]
    /// Beside `pairs`: milliseconds since 1970 at which that record is written.
    private var written: [Int64]
    /// The same where the pair has room for it.
    private var wanted: [Int64]
    private var tally = Tally()
    private var now = RunPlan.start

    package static func run(_ plan: Plan) throws -> Tally {
        var run = try MonthRun(plan)
        run.run()
        return run.tally
    }

    private init(_ plan: Plan) throws {
        self.plan = plan
        let key = ProviderKey(team: Self.account.team, kid: "KEY1234567", key: try SigningKey.generate(.p256))
        desk = RefreshDesk(
            lines: plan.lines,
            callsPerSecond: plan.callsPerSecond,
            partitions: plan.partitions,
            tokens: ProviderTokens([key].compactMap(\.self))
        )
        random = SeededRandom(seed: plan.seed)
        pairs = ReceiptLine.allCases.flatMap { line in
            (0..<plan.partitions).map { LinePair(line: line, partition: Int32($0)) }
        }
        for pair in pairs { desk.assign(pair, from: 0) }
        offsets = pairs.map { _ in 0 }
        written = pairs.map { _ in .max }
        wanted = written
        for index in pairs.indices { written[index] = createdAt(0, pairs[index].partition).milliseconds }
    }

    private mutating func run() {
        let end = RunPlan.start.after(milliseconds: plan.days * Milliseconds.day)
        for index in pairs.indices { fill(index) }
        while now < end {
            switch desk.next(at: now) {
            case .call(let call): begin(call)
            case .wait(let until): advance(to: min(end, until ?? .never))
            }
        }
    }

    private mutating func begin(_ call: DeskCall) {
        tally.calls += 1
        tally.visits[call.pair.line.rawValue] += 1
        tally.longestLag = max(tally.longestLag, now.since(call.visit.due))
        if now < call.visit.due { tally.early += 1 }
        tally.mix(
            call.visit.offset &* 64 &+ Int64(call.pair.line.rawValue * plan.partitions) &+ Int64(call.pair.partition)
        )
        tally.mix(now.milliseconds)
        ends.add(call, at: now.after(milliseconds: 80 + Int64(random.next() % 256)))
        fill(place(of: call.pair))
    }

    /// Goes to the next thing that happens.
    private mutating func advance(to limit: EvaluationTime) {
        var next = ends.next.map { min($0, limit) } ?? limit
        if let record = wanted.min(), record < next.milliseconds { next = EvaluationTime(milliseconds: record) }
        now = max(now, next)
        while let call = ends.take(until: now) { finish(call) }
        for index in pairs.indices where wanted[index] <= now.milliseconds { fill(index) }
        if tally.calls & 0x3FF == 0 {
            tally.mostUnfinished = max(tally.mostUnfinished, desk.unfinishedCount)
            let prefetched = pairs.reduce(0) { $0 + LinePartition.mostPrefetched - desk.room(of: $1) }
            tally.mostPrefetched = max(tally.mostPrefetched, prefetched)
        }
    }

    private mutating func finish(_ call: DeskCall) {
        let outcome = outcome(random.next() % 1_000)
        let effect = desk.end(call, outcome, at: now, using: &random)
        if !outcome.isFinal { tally.kept += 1 }
        guard effect.mustProduce else { return }
        tally.verified += 1
        desk.acknowledge(call, isWritten: true, at: now, using: &random)
    }

    private func outcome(_ number: UInt64) -> CallOutcome {
        switch number {
        case ..<900: .verified(.accepted)
        case ..<950: .early
        case ..<990: .absent
        case ..<995: .unavailable
        case ..<998: .timedOut
        default: .transport
        }
    }

    private mutating func fill(_ index: Int) {
        let pair = pairs[index]
        while written[index] <= now.milliseconds, desk.room(of: pair) > 0 {
            desk.append(record(offsets[index], pair.partition), to: pair)
            if pair.line == .first { tally.records += 1 }
            offsets[index] += 1
            written[index] = createdAt(offsets[index], pair.partition).milliseconds
        }
        wanted[index] = desk.room(of: pair) > 0 ? written[index] : .max
    }

    private func place(of pair: LinePair) -> Int { pair.line.rawValue * plan.partitions + Int(pair.partition) }

    // MARK: The topic

    private func createdAt(_ offset: Int64, _ partition: Int32) -> EvaluationTime {
        let all = Int64(plan.receipts)
        let number = offset * Int64(plan.partitions) + Int64(partition)
        guard number < all else { return .never }
        return RunPlan.start.after(milliseconds: number * (plan.days * Milliseconds.day) / all)
    }

    /// One of four is an attestation's.
    private func record(_ offset: Int64, _ partition: Int32) -> LineRecord {
        let createdAt = createdAt(offset, partition)
        let isAttestation = (UInt64(bitPattern: offset &* 31 &+ Int64(partition)) &* 0x9E37_79B9_7F4A_7C15) >> 62 == 0
        let dates =
            isAttestation
            ? ReceiptDates(type: .attest, createdAt: createdAt)
            : ReceiptDates(
                type: .receipt,
                createdAt: createdAt,
                notBefore: createdAt.after(milliseconds: Milliseconds.day),
                expiresAt: createdAt.after(milliseconds: 90 * Milliseconds.day)
            )
        return LineRecord(offset: offset, appointment: LineAppointment(dates: dates, account: Self.account))
    }
}
