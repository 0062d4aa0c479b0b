internal import Crypto
internal import DeviceLab
internal import Pipeline
internal import Streams
internal import Testing

@testable internal import AppAttest
@testable internal import AppCheck
@testable internal import Reports

/// Records of made-up devices, without a pipeline.
private struct World {
    static let outcomes = OutcomeList()
    static let start: Int64 = 1_763_632_800_000
    static let minute: Int64 = 60_000

    private(set) var population = Population(outcomes: outcomes.count)
    private(set) var times = TimeCounts()
    private var offset: Int64 = 0

    /// - Parameter minutes: since the capture's beginning; nil for a record without a time.
    mutating func add(_ sender: Sender, _ reason: Reason? = nil, at minutes: Double?) {
        let outcome = reason.flatMap { Self.outcomes.index(of: .refused($0, $0.status(appID: nil))) } ?? 0
        let time = minutes.map { Self.start + Int64($0 * Double(Self.minute)) }
        population.note(sender, outcome, at: RecordPlace(partition: 0, offset: offset), time)
        if let time { times.add(time, outcome) }
        offset += 1
    }

    var diagnosis: Diagnosis { Diagnosis(population, Self.outcomes, times.columns(outcomes: Self.outcomes.count)) }

    /// The finding's value as text; nil for time.
    func text(_ finding: Association?) -> String? {
        guard let trait = finding?.trait else { return nil }
        return trait.dimension == .appID
            ? population.appIDs.keys[Int(trait.id)]?.bytes.first.map { "\($0)" }
            : population.values[trait.dimension.rawValue].keys[Int(trait.id)]?.shown
    }

    /// A device with frequent and rare values, chosen by chance.
    static func device(_ index: Int, _ random: inout SeededRandom) -> Sender {
        func pick(_ names: [ExactText]) -> ExactText {
            names[min(Int.random(in: 0..<6, using: &random), names.count - 1)]
        }
        var sender = Sender(installation: "device \(index)", keyID: nil)
        (sender.bringsObject, sender.bringsAttestation) = (true, false)
        (sender[.app], sender[.platform]) = (pick(["one", "two"]), pick(["mac", "phone"]))
        (sender[.osVersion], sender[.category]) = (pick(["26.1", "26.2", "27.0"]), pick(["2", "4"]))
        sender[.bundleVersion] = pick(["1", "2", "3", "4"])
        sender[.environment] = pick(["development", "production"])
        sender.appID = SHA256.hash(Array("\(pick(["a", "b"]))".utf8))
        return sender
    }

    /// Devices that ask some times in three hours; a few of them are refused for no reason that they have in common.
    static func uniform(_ devices: Int, seed: UInt64, refused: Double = 0.02) -> (world: World, senders: [Sender]) {
        var (world, random) = (World(), SeededRandom(seed: seed))
        let senders = (0..<devices).map { device($0, &random) }
        for sender in senders {
            // Few ask often.
            for _ in 0..<Int.random(in: 1...Int.random(in: 1...12, using: &random), using: &random) {
                let isRefused = Double.random(in: 0..<1, using: &random) < refused
                let reasons: [Reason] = [.counterNotGreater, .unknownKey, .object(.signatureInvalid)]
                let reason = isRefused ? reasons.randomElement(using: &random) : nil
                world.add(sender, reason, at: Double.random(in: 0..<180, using: &random))
            }
        }
        return (world, senders)
    }
}

@Suite("What refusals depend on")
struct DiagnosisTests {
    private static let mismatch = Reason.object(.appIDMismatch)

    private static func name(_ part: Association.Part?) -> String? { part.map { World.outcomes.name($0.reason) } }

    @Test func `the exact test has the known values, however small`() {
        // Fisher's: (2025 + 100 + 1) of 184756 ways.
        let tail = Hypergeometric.logTail(8, of: 10, allHits: 10, all: 20)
        #expect(abs(tail + 4.464_794) < 1e-5, "\(tail)")
        #expect(Hypergeometric.logTail(0, of: 10, allHits: 10, all: 20) == 0)
        // All of 1,000 hits among 1,000 of a million: the logarithm of one of (10⁶ choose 1,000) ways.
        let rare = Hypergeometric.logTail(1000, of: 1000, allHits: 1000, all: 1_000_000)
        #expect(rare < -7000 && rare > -8000 && rare.isFinite)
        #expect(Hypergeometric.logTail(5, of: 5, allHits: 100, all: 100) == 0)
    }

    @Test(arguments: Trait.order)
    func `a value whose devices are refused is found, named and alone`(dimension: Dimension) throws {
        var (world, senders) = World.uniform(600, seed: 5)
        for (index, var sender) in senders.prefix(60).enumerated() {
            sender.installation = "bad \(index)"
            if dimension == .appID { sender.appID = SHA256.hash(Array("bad".utf8)) } else { sender[dimension] = "bad" }
            for time in [1.0, 90, 179] { world.add(sender, index < 50 ? Self.mismatch : nil, at: time) }
        }
        let found = world.diagnosis.findings
        #expect(found.count == 1, "\(found.map { world.text($0) ?? "time" })")
        let finding = try #require(found.first)
        let text = dimension == .appID ? SHA256.hash(Array("bad".utf8)).bytes.first.map { "\($0)" } : "bad"
        #expect(world.text(finding) == text && finding.span == Association.Span())
        #expect(finding.main.inside.units == 60 && finding.main.inside.hits == 50 && finding.main.inside.accepted == 0)
        #expect(Self.name(finding.main) == "app-id-mismatch" && finding.main.outside.hits == 0)
    }

    @Test func `a value is found with the time from which on it is refused, and what else its devices have in common`()
    {
        var (world, senders) = World.uniform(600, seed: 6)
        for (index, var sender) in senders.prefix(150).enumerated() {
            sender.installation = "new \(index)"
            (sender.appID, sender[.bundleVersion]) = (SHA256.hash([1]), "9.9")
            let time = 80 + Double(index) * 2 / 3
            world.add(sender, Self.mismatch, at: time)
            if index.isMultiple(of: 2) { world.add(sender, .unknownKey, at: time + 1) }
        }
        let found = world.diagnosis.findings
        #expect(found.count == 1 && found[0].twins.map(\.dimension) == [.bundleVersion])
        #expect(found[0].parts.map { Self.name($0) } == ["app-id-mismatch", "unknown-key"])
        #expect(found[0].main.inside.hits == 150 && found[0].parts[1].inside.hits == 75)
        #expect(found[0].main.inside.accepted == 0 && found[0].span.until == nil)
        #expect(found[0].span.from == World.start + 80 * World.minute)
        // One device of fifty may have been earlier.
        var early = senders[0]
        (early.installation, early.appID, early[.bundleVersion]) = ("early", SHA256.hash([1]), "9.9")
        world.add(early, Self.mismatch, at: 0)
        #expect(world.diagnosis.findings.first?.span.from == World.start + 81 * World.minute + World.minute / 3)
    }

    @Test func `a refusal has an end only where its devices are accepted later`() {
        for isAcceptedLater in [false, true] {
            var (world, senders) = World.uniform(600, seed: 6)
            for (index, var sender) in senders.prefix(60).enumerated() {
                (sender.installation, sender[.bundleVersion]) = ("new \(index)", "9.9")
                world.add(sender, Self.mismatch, at: 60 + Double(index) / 2)
                if isAcceptedLater { world.add(sender, at: 120) }
            }
            let found = world.diagnosis.findings
            #expect(found.count == 1 && found[0].span.from == World.start + 60 * World.minute)
            let end = World.start + 90 * World.minute - World.minute / 2
            #expect(found[0].span.until == (isAcceptedLater ? end : nil))
            #expect(found[0].main.inside.accepted == (isAcceptedLater ? 60 : 0))
        }
    }

    @Test func `a time in which whoever asks is refused is found, and nothing else`() throws {
        var (world, senders) = World.uniform(600, seed: 7)
        for (index, sender) in senders.enumerated() where index.isMultiple(of: 3) {
            world.add(sender, .challengeAhead, at: 80 + Double(index % 20))
        }
        let found = world.diagnosis.findings
        #expect(found.count == 1 && found[0].trait == nil && Self.name(found[0].main) == "challenge-ahead")
        let span = try #require(found.first?.span)
        #expect(span.from == World.start + 80 * World.minute && span.until == World.start + 100 * World.minute)
        let inside = found[0].main.inside
        #expect(inside.hits == 200 && inside.units > 200 && inside.accepted > 150 && found[0].main.outside.hits == 0)
    }

    @Test func `refusals that have nothing in common give no finding in all but a few of 200 captures`() {
        let worlds = (0..<200).map { World.uniform(90, seed: 1000 + UInt64($0), refused: 0.1).world.diagnosis }
        let wrong = worlds.count { !$0.findings.isEmpty }
        #expect(wrong <= 6, "\(wrong)")
        #expect(worlds.allSatisfy { $0.tests > 1000 && $0.refused > 10 })
    }

    @Test func `a device that asks again and again counts once, and so does who asks more often`() {
        var (world, senders) = World.uniform(300, seed: 8)
        for minute in 0..<170 { world.add(senders[0], .unknownKey, at: Double(minute)) }
        #expect(world.diagnosis.findings.isEmpty)
        for index in senders.indices where senders[index][.app] == "one" {
            for time in 1...40 {
                world.add(senders[index], time == index % 40 ? .unknownKey : nil, at: Double(time * 4))
            }
        }
        for index in senders.indices where senders[index][.app] == "two" && index % 40 == 1 {
            world.add(senders[index], .unknownKey, at: 4)
        }
        #expect(!world.diagnosis.findings.contains { world.text($0) == "one" })
    }

    @Test func `records without a device count each, by their app and their time`() throws {
        var (world, _) = World.uniform(200, seed: 9)
        var sender = Sender(installation: nil, keyID: nil)
        for index in 0..<40 {
            sender[.app] = "nameless"
            world.add(sender, .malformedRequest, at: 100 + Double(index) / 10)
        }
        let finding = try #require(world.diagnosis.findings.first)
        #expect(world.text(finding) == "nameless" && finding.main.inside.looseHits == 40)
        #expect(finding.span == Association.Span())
        sender.asksForChallenge = true
        let before = world.diagnosis
        for _ in 0..<1000 { world.add(sender, at: 5) }
        #expect(world.diagnosis.findings.count == before.findings.count, "an accepted challenge says nothing yet")
    }

    @Test func `fewer than five devices are never a finding`() {
        var (world, senders) = World.uniform(400, seed: 10, refused: 0)
        #expect(world.diagnosis.findings.isEmpty && world.diagnosis.refused == 0)
        for index in 0..<4 {
            senders[index][.bundleVersion] = "rare"
            for time in 0..<20 { world.add(senders[index], Self.mismatch, at: Double(time)) }
        }
        #expect(world.diagnosis.findings.isEmpty && world.diagnosis.refused == 4)
    }

    @Test func `the order of records of one time changes nothing, and no record needs a time`() {
        var random = SeededRandom(seed: 11)
        var senders = (0..<400).map { World.device($0, &random) }
        for index in senders.indices.prefix(80) { senders[index][.bundleVersion] = index < 40 ? "x" : "y" }
        func findings(_ order: [Int], at time: Double?) -> [String] {
            var world = World()
            for index in order { world.add(senders[index], index < 80 ? Self.mismatch : nil, at: time) }
            return world.diagnosis.findings.map { "\(world.text($0) ?? "") \($0.main) \($0.span)" }
        }
        let expected = findings(Array(senders.indices), at: 10)
        #expect(expected.count == 2)
        for _ in 0..<5 { #expect(findings(senders.indices.shuffled(using: &random), at: 10) == expected) }
        #expect(findings(senders.indices.reversed(), at: nil) == expected)
    }

    @Test func `a million App IDs leave as many entries as a thousand, and a frequent one among them is found`() throws
    {
        var table = ValueTable<Digest>(outcomes: World.outcomes.count)
        let often = SHA256.hash([7])
        for index in 0..<1_000_000 {
            let id = table.id(of: index.isMultiple(of: 100) ? often : Self.digest(index))
            table.count(id, 1)
        }
        #expect(table.tallies.count <= Int(ValueTally.ID.max) && table.keys.count { $0 != nil } <= 1024)
        #expect(table.tallies.count { !$0.counts.isEmpty } <= 1026)
        let counted = table.tallies.reduce(0) { $0 + ($1.counts.isEmpty ? 0 : $1.counts[1]) }
        #expect(counted == 1_000_000 && table.tallies[Int(table.id(of: often))].counts[1] == 10_000)
        var (world, senders) = World.uniform(300, seed: 12)
        for index in 0..<3000 {
            var sender = senders[index % 300]
            sender.installation = "made up \(index)"
            sender.appID = index.isMultiple(of: 10) ? often : Self.digest(index)
            world.add(sender, index.isMultiple(of: 10) ? Self.mismatch : nil, at: 50)
        }
        let diagnosis = world.diagnosis
        #expect(diagnosis.findings.contains { $0.main.inside.units == 300 && $0.main.inside.hits == 300 })
        #expect(diagnosis.findings.count < 10)
    }

    private static func digest(_ index: Int) -> Digest {
        Digest(words: (UInt64(index), 1, 2, 3))
    }
}
