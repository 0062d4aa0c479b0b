import AppAttest
import AppCheck
import Crypto
import Testing

@Suite struct RolloutTests {
    private static let vectors = Contract.root["rollout"]["vectors"].elements

    private static func id(_ vector: Contract.Node) -> String {
        let parts = vector["idRepeat"].elements
        guard parts.count == 2 else { return vector["id"].string }
        return String(repeating: parts[0].string, count: Int(parts[1].integer))
    }

    @Test(arguments: vectors.indices)
    func `every vector that Google published falls into its bucket`(index: Int) {
        let vector = Self.vectors[index]
        let (seed, id) = (vector["seed"].string, Self.id(vector))
        #expect(Rollout.bucket(seed: seed, id: ExactText(id)) == vector["microPercentile"].integer)
        let half = Rollout(mode: .on, parts: Rollout.whole / 2, seed: seed)
        #expect(half.decide(id: ExactText(id))?.isAdmitted == vector["in0to50percent"].bool)
    }

    @Test func `the vectors are present`() { #expect(Self.vectors.count == 14) }

    @Test func `a share includes its last bucket and no further one`() {
        let bucket = Rollout.bucket(seed: "1", id: "one")
        func isInside(_ parts: Int64) -> Bool? {
            Rollout(mode: .on, parts: parts, seed: "1").decide(id: "one")?.isInside
        }
        #expect(isInside(bucket) == true)
        #expect(isInside(bucket - 1) == false)
        #expect(isInside(Rollout.whole) == true)
        #expect(isInside(0) == false)
    }

    @Test func `off gates nothing, shadow decides but admits all, on enforces`() {
        #expect(Rollout(mode: .off, parts: 0, seed: "1").decide(id: "one") == nil)
        let shadow = Rollout(mode: .shadow, parts: 0, seed: "1").decide(id: "one")
        #expect(shadow?.isInside == false && shadow?.isAdmitted == true && shadow?.bucket == 64_146_488)
        let on = Rollout(mode: .on, parts: 0, seed: "1").decide(id: "one")
        let never: Set<Digest> = [SHA256.hash(Array("one".utf8))]
        let tester = Rollout(mode: .shadow, parts: Rollout.whole, seed: "1", never: never).decide(id: "one")
        #expect(tester?.isInside == false && tester?.isAdmitted == true && tester?.list == .never)
        #expect(Rollout(mode: .off, never: never).decide(id: "one") == nil)
        #expect(on?.isInside == false && on?.isAdmitted == false && on?.parts == 0)
    }

    @Test func `zero percent admits not even bucket 0`() throws {
        // Found by search: with this seed the id falls into bucket 0 of a hundred thousandth.
        let ids = (0..<20_000).map { "id\($0)" }
        let lowest = try #require(
            ids.min { Rollout.bucket(seed: "s", id: ExactText($0)) < Rollout.bucket(seed: "s", id: ExactText($1)) }
        )
        let bucket = Rollout.bucket(seed: "s", id: ExactText(lowest))
        #expect(bucket < 100_000)
        #expect(Rollout(mode: .on, parts: bucket, seed: "s").decide(id: ExactText(lowest))?.isAdmitted == true)
        #expect(Rollout(mode: .on, parts: 0, seed: "s").decide(id: ExactText(lowest))?.isAdmitted == false)
    }

    @Test func `a growing share keeps its devices, and admits about the configured portion`() {
        let ids = (0..<5000).map { "installation-\($0)" }
        var before: Set<String> = []
        for percent in [1, 10, 25, 50, 99, 100] as [Int64] {
            let rollout = Rollout(mode: .on, parts: percent * 1_000_000, seed: "s1")
            let admitted = Set(ids.filter { rollout.decide(id: ExactText($0))?.isAdmitted ?? false })
            #expect(before.isSubset(of: admitted))
            #expect(abs(admitted.count - 50 * Int(percent)) < 150)
            before = admitted
        }
        #expect(before.count == ids.count)
    }

    @Test(
        arguments: [
            (0, "0"), (10_000_000, "10"), (100_000_000, "100"), (1, "0.000001"), (2_500_000, "2.5"),
            (99_999_999, "99.999999"),
            (1_000_010, "1.00001"),
        ] as [(Int64, String)]
    )
    func `a share is written as its percentage`(parts: Int64, text: String) {
        #expect(Rollout.percentText(parts) == text)
    }
}

@Suite struct RateWindowTests {
    /// Each partition is asked `attempts` times in each second.
    private func admissions(limit: Int, partitions: Int, seconds: Range<Int64>, attempts: Int) -> [[Int]] {
        var windows = [RateWindow?](repeating: nil, count: partitions)
        return seconds.map { second in
            (0..<partitions).map { partition in
                (0..<attempts).count { attempt in
                    let next = RateWindow.admit(
                        windows[partition],
                        at: EvaluationTime(milliseconds: second * 1000 + Int64(attempt)),
                        limit: limit,
                        partition: Int32(partition),
                        partitions: partitions
                    )
                    if let next { windows[partition] = next }
                    return next != nil
                }
            }
        }
    }

    @Test(arguments: [
        (1, 1), (3, 1), (100, 1), (6, 6), (7, 6), (11, 6), (100, 6), (100, 48), (1, 6), (5, 6), (2, 3), (47, 48),
        (1, 100),
    ])
    func `under load all partitions together admit exactly the limit in every second`(limit: Int, partitions: Int) {
        // With more partitions than places, the first seconds may use places left over from a quiet past.
        let warmUp = limit < partitions ? partitions / limit + 1 : 0
        let start = 1_795_000_000 as Int64
        let seconds = admissions(
            limit: limit,
            partitions: partitions,
            seconds: start..<(start + Int64(warmUp) + 60),
            attempts: limit / partitions + 3
        )
        for second in seconds.dropFirst(warmUp) { #expect(second.reduce(0, +) == limit) }
        let most = (limit + partitions - 1) / partitions
        #expect(seconds.allSatisfy { $0.allSatisfy { $0 <= most } })
    }

    @Test func `one per second over six partitions gives each one place in six seconds, whenever it asks`() {
        func ask(_ window: RateWindow?, _ second: Int64) -> RateWindow? {
            let time = EvaluationTime(milliseconds: second * 1000)
            return RateWindow.admit(window, at: time, limit: 1, partition: 2, partitions: 6)
        }
        for start in 600..<612 as Range<Int64> {
            let window = ask(nil, start)
            #expect(window != nil)
            let admitted = ((start + 1)...(start + 6)).filter { ask(window, $0) != nil }
            #expect(!admitted.isEmpty)
            // The next place opens when the second, times one, plus two is a multiple of six.
            #expect(admitted.first.map { ($0 + 2) % 6 } == 0)
        }
    }

    @Test func `time that goes back opens no new window`() throws {
        let now = EvaluationTime(milliseconds: 10_500)
        let window = try #require(RateWindow.admit(nil, at: now, limit: 1, partition: 0, partitions: 1))
        #expect(window == RateWindow(second: 10, count: 1))
        let earlier = EvaluationTime(milliseconds: 1)
        #expect(RateWindow.admit(window, at: earlier, limit: 1, partition: 0, partitions: 1) == nil)
        let back = try #require(RateWindow.admit(window, at: earlier, limit: 2, partition: 0, partitions: 1))
        #expect(back == RateWindow(second: 10, count: 2))
    }

    @Test func `without a limit all are admitted, and no time or limit traps`() {
        for milliseconds in [Int64.min, -1, 0, .max] {
            let time = EvaluationTime(milliseconds: milliseconds)
            #expect(RateWindow.admit(nil, at: time, limit: 0, partition: 0, partitions: 1) != nil)
            let full = RateWindow(second: .max, count: .max - 1)
            _ = RateWindow.admit(full, at: time, limit: .max, partition: .max, partitions: .max)
            _ = RateWindow.admit(full, at: time, limit: 0, partition: .max, partitions: .max)
            _ = RateWindow.admit(nil, at: time, limit: .max, partition: .max, partitions: 1)
        }
        #expect(RateWindow.admit(nil, at: Exchange.now, limit: .max, partition: 0, partitions: 1) != nil)
    }
}
