/// The dependences of refusals: the strongest associations with values that devices have, then with time alone.
///
/// Units are devices, since the records of one device hang together. Each comparison is an exact test. All of them are
/// corrected together (Bonferroni): a false finding costs an operator an hour, values overlap in every way, and what
/// makes many devices fail lies far beyond the bound. What a finding explains is left out of its reason's further
/// comparisons, so that what hangs together with it is not found again.
struct Diagnosis {
    /// The chance that a capture without any association has a finding; half of it is for time.
    private static let chance = 0.05
    static let leastHits = 5
    private static let leastLift = 1.25
    private static let mostOfReason = 20

    /// The one with most excess comes first.
    private(set) var findings: [Association] = []
    /// How many comparisons were made.
    private(set) var tests = 0
    /// Devices that were refused and records without a device that were.
    let refused: Int
    private let devices: [DeviceTable.Device]
    private let survey: Survey
    private let timeline: Timeline?
    /// Reasons with hits enough, the most frequent first.
    private let reasons: [Int]
    /// The values that were found, by reason.
    private var found: [Int: [Trait]] = [:]

    /// - Parameter columns: time as the report draws it; nil where no record has a time.
    init(_ population: Population, _ outcomes: OutcomeList, _ columns: TimeCounts.Columns?) {
        devices = population.devices.devices
        survey = Survey(population)
        timeline = columns.map { Timeline(population, $0) }
        let apps = population.tallies(.app)
        let counts = outcomes.indices.map { index in
            population.met[index] + apps.reduce(0) { $0 + ($1.loose.isEmpty ? 0 : $1.loose[index]) }
        }
        let kinds: Set<MarkKind> = [.refused, .deferred]
        reasons = outcomes.indices.filter { kinds.contains(outcomes.kind($0)) && counts[$0] >= Self.leastHits }
            .sorted { (counts[$0], -$0) > (counts[$1], -$1) }
        refused =
            devices.count { $0.refused > 0 }
            + apps.reduce(0) { $0 + $1.loose.dropFirst().reduce(0, +) }
        guard refused >= Self.leastHits else { return }
        findValues()
        findTimes()
        // Until here nothing depends on the order of the records. Equal ones keep their order.
        findings.sort { $0.main.excess > $1.main.excess }
    }

    /// The logarithm of the chance below which none of so many comparisons is chance.
    private static func bound(_ tests: Int) -> Double { LogChance.of(chance / 2 / Double(max(1, tests))) }

    private func isFound(_ device: Int, _ reason: Int) -> Bool {
        found[reason]?.contains { survey.has(devices[device], $0) } ?? false
    }

    // MARK: Values

    private mutating func findValues() {
        let count = survey.traits.count * (reasons.count + 1)
        tests += count
        for reason in reasons { findValues(reason, Self.bound(count)) }
        // What no reason by itself shows.
        let all = Set(found.values.joined())
        found[0] = survey.traits.filter { all.contains($0) }
        findValues(0, Self.bound(count))
    }

    private mutating func findValues(_ reason: Int, _ bound: Double) {
        for _ in 0..<Self.mostOfReason {
            let counts = survey.count(reason, without: found[reason] ?? [])
            guard let (trait, part) = strongest(reason, counts, bound) else { return }
            let twins = survey.twins(of: trait).filter { twin in
                counts.cells[twin]?.share ?? 0 >= Self.leastLift * counts.all[twin.dimension.rawValue].share
            }
            found[reason, default: []] += [trait] + twins
            // Records without a device do not say whose they are.
            let isOfDevices = part.inside.looseHits * 2 < part.inside.hits
            let span = isOfDevices ? timeline?.span(reason) { survey.has(devices[$0], trait) } : nil
            add(Association(trait, twins: twins, span ?? Association.Span(), part)) { $0.covers(trait) }
        }
    }

    private mutating func add(_ finding: Association, or isSame: (Association) -> Bool) {
        guard let place = findings.firstIndex(where: isSame) else { return findings.append(finding) }
        findings[place].add(finding.main, finding.span)
    }

    /// The value with most hits beyond the average; among nearly equal ones the one that says most.
    private func strongest(_ reason: Int, _ counts: Survey.Counts, _ bound: Double) -> (Trait, Association.Part)? {
        let open = survey.traits.compactMap { trait -> (trait: Trait, part: Association.Part)? in
            let all = counts.all[trait.dimension.rawValue]
            guard let cell = counts.cells[trait], Self.standsOut(cell, all), Self.isNoChance(cell, all, bound)
            else { return nil }
            return (trait, Association.Part(reason: reason, inside: cell, outside: all.without(cell)))
        }
        let most = open.map(\.part.excess).max() ?? 0
        return open.first { $0.part.excess >= 0.95 * most }
    }

    private static func isNoChance(_ cell: Cell, _ all: Cell, _ bound: Double) -> Bool {
        Hypergeometric.logTail(cell.hits, of: cell.units, allHits: all.hits, all: all.units) < bound
    }

    /// Whether a difference is large enough to be looked at, and not only because these devices ask more often.
    private static func standsOut(_ cell: Cell, _ all: Cell) -> Bool {
        guard cell.hits >= leastHits, cell.share >= leastLift * all.share else { return false }
        func rate(_ part: Int, _ cell: Cell) -> Double { Double(part) / Double(max(1, cell.records)) }
        return rate(cell.refused, cell) >= leastLift * rate(all.refused, all)
            || rate(cell.hits, cell) >= leastLift * rate(all.hits, all)
    }

    /// Refused devices that have a value of a finding.
    var named: Int { devices.indices.count { devices[$0].refused > 0 && isFound($0, 0) } }

    // MARK: Time

    private mutating func findTimes() {
        // Of a cut timeline the end is not known.
        guard let timeline, !timeline.isFull else { return }
        let count = timeline.windows * (reasons.count + 1)
        tests += count
        var windows: [Range<Int>] = []
        for reason in reasons + [0] {
            let isLeft: (Int) -> Bool = { isFound($0, reason) }
            guard let best = timeline.strongest(reason, without: isLeft), best.inside.hits >= Self.leastHits,
                best.inside.share >= Self.leastLift * best.all.share,
                Self.isNoChance(best.inside, best.all, Self.bound(count))
            else { continue }
            // What its reasons showed is not found once more as any refusal.
            if reason == 0, windows.contains(where: { $0.overlaps(best.window) }) { continue }
            let (inside, outside) = timeline.census(reason, in: best.window, devices, without: isLeft)
            let same = windows.firstIndex { Self.isAlike($0, best.window) }.map { timeline.span(windows[$0]) }
            let span = same ?? timeline.span(best.window)
            windows.append(best.window)
            let part = Association.Part(reason: reason, inside: inside, outside: outside)
            add(Association(nil, span, part)) { $0.trait == nil && $0.span == span }
        }
    }

    private static func isAlike(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
        let both = one.clamped(to: other).count
        return both * 5 >= (one.count + other.count - both) * 4
    }
}

/// An association between refusals and what they have in common.
struct Association {
    /// A time from which on, or until which, the records lie; nil = they do not begin or end within the capture.
    struct Span: Equatable {
        var from: Int64?
        var until: Int64?
    }

    /// One reason among the units.
    struct Part {
        /// The outcome's number; 0 = any refusal.
        let reason: Int
        let inside: Cell
        let outside: Cell

        var excess: Double { inside.excess(over: inside.with(outside)) }
    }

    /// nil where nothing is common but the time.
    let trait: Trait?
    /// Other values that select nearly the same devices.
    let twins: [Trait]
    private(set) var span: Span
    /// The reasons, the one with most hits first.
    private(set) var parts: [Part]

    init(_ trait: Trait?, twins: [Trait] = [], _ span: Span, _ part: Part) {
        (self.trait, self.twins, self.span, self.parts) = (trait, twins, span, [part])
    }

    var main: Part { parts[0] }

    mutating func add(_ part: Part, _ span: Span) {
        if part.inside.hits > main.inside.hits { self.span = span }
        parts.append(part)
        parts.sort { ($0.inside.hits, -$0.reason) > ($1.inside.hits, -$1.reason) }
    }

    /// Whether another value is this finding's.
    func covers(_ trait: Trait) -> Bool { self.trait == trait || twins.contains(trait) }
}
