import AppAttest
import Crypto
import Dispatch
import Pipeline
import Testing
internal import Threads

private final class NoEngine: SignatureEngine {
    func verify(_ checks: [SignatureCheck]) -> [Bool] { checks.map { _ in false } }
}

@Suite("Lanes")
struct LanesTests {
    private static func scratch() throws -> LaneScratch {
        LaneScratch(
            verifier: ObjectVerifier(anchors: try TrustAnchors(attestationPEM: [], receiptPEM: [])),
            engine: NoEngine()
        )
    }

    @Test(arguments: [1, 2, 5], [0, 1, 31, 32, 33, 1000])
    func `every index is done once and results keep their order`(lanes: Int, count: Int) async throws {
        let runner = DispatchLanes(scratches: try (0..<lanes).map { _ in try Self.scratch() })
        let outputs = await withCheckedContinuation { continuation in
            runner.run(count: count, grain: 32, priority: .normal) { range, _ in
                range.map { (number: Int) -> Int in number * 3 }
            } completion: {
                continuation.resume(returning: $0)
            }
        }
        let tripled: [Int] = (0..<count).map { (number: Int) -> Int in number * 3 }
        #expect(outputs == tripled)
    }

    @Test func `a lane's scratch is never used by two blocks at once, with many jobs of both priorities`() async throws
    {
        let runner = DispatchLanes(scratches: try (0..<3).map { _ in try Self.scratch() })
        let busy = Locked<Set<ObjectIdentifier>>([])
        let clashes = Locked(0)
        let jobs = 50
        let finished = Locked(0)
        let sums = await withCheckedContinuation { continuation in
            let collected = Locked<[Int]>([])
            for job in 0..<jobs {
                runner.run(count: 40, grain: 3, priority: job % 3 == 0 ? .high : .normal) { range, lane in
                    let name = ObjectIdentifier(lane)
                    if !busy.withLock({ $0.insert(name).inserted }) { clashes.withLock { $0 += 1 } }
                    let output = range.map { $0 + job }
                    busy.withLock { _ = $0.remove(name) }
                    return output
                } completion: { outputs in
                    collected.withLock { $0.append(outputs.reduce(0, +)) }
                    let count = finished.withLock { count in
                        count += 1
                        return count
                    }
                    if count == jobs { continuation.resume(returning: collected.withLock { $0 }) }
                }
            }
        }
        #expect(clashes.withLock { $0 } == 0)
        #expect(sums.sorted() == (0..<jobs).map { job in (0..<40).reduce(0) { $0 + $1 + job } })
    }

    @Test(arguments: [1, 3])
    func `what waits keeps no lane from its work`(lanes: Int) async throws {
        let runner = DispatchLanes(
            scratches: try (0..<lanes).map { _ in try Self.scratch() },
            waiting: try (0..<4).map { _ in try Self.scratch() }
        )
        let (signs, verified) = (DispatchSemaphore(value: 0), Locked(0))
        let outputs = await withCheckedContinuation { continuation in
            // Four signatures at once, which end only after the lanes have done another batch's work.
            runner.run(count: 4, grain: 64, priority: .waiting) { range, _ in
                signs.wait()
                return range.map { _ in verified.withLock { $0 } }
            } completion: {
                continuation.resume(returning: $0)
            }
            runner.run(count: 100, grain: 10, priority: .normal) { range, _ in
                verified.withLock { $0 += range.count }
                return [0]
            } completion: { _ in
                for _ in 0..<4 { signs.signal() }
            }
        }
        #expect(outputs == [100, 100, 100, 100])
    }

    @Test(arguments: [
        (1, 2, 8), (64, 2, 8), (65, 2, 16), (128, 2, 16), (448, 2, 56), (449, 2, 64), (20_000, 2, 64), (128, 16, 8),
        (600, 16, 16), (20_000, 64, 64), (10, 1, 8),
    ])
    func `a short stage has several grains for each lane, in steps of eight`(count: Int, lanes: Int, grain: Int) {
        #expect(DispatchLanes.grain(of: count, lanes: lanes, most: 64, step: 8) == grain)
    }

    @Test(arguments: [(1, 16, 1), (60, 16, 1), (120, 16, 2), (20_000, 16, 64)])
    func `signatures made elsewhere are spread one by one`(count: Int, lanes: Int, grain: Int) {
        #expect(DispatchLanes.grain(of: count, lanes: lanes, most: 64, step: 1) == grain)
    }

    @Test func `the records of a small batch are spread over all lanes`() async throws {
        let runner = DispatchLanes(scratches: try (0..<4).map { _ in try Self.scratch() })
        // Sixty records and sixty ledger records: in grains of sixty-four one lane had all records.
        let starts = await withCheckedContinuation { continuation in
            runner.run(count: 120, grain: 64, priority: .high) { range, _ in
                [range.lowerBound]
            } completion: {
                continuation.resume(returning: $0)
            }
        }
        #expect(starts.filter { $0 < 60 }.count >= 4)
    }
}
