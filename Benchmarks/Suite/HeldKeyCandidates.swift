internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import Pipeline
internal import Streams
internal import Threads

/// What a slow signing key does to the requests that need no signature: the same records with a key of this process, and
/// with one that takes a while for each signature.
struct HeldKeyCandidates {
    /// One record of so many is an exchange.
    static let share = 40
    private static let milliseconds = 5
    /// As many as the worker has.
    private static let waitingLanes = 16

    private let exchange: ExchangeCandidates
    private let fixtures: Fixtures
    private let records: [PolledRecord]

    /// - Parameter rounds: requests of each device.
    init(_ exchange: ExchangeCandidates, _ fixtures: Fixtures, rounds: Int) throws {
        (self.exchange, self.fixtures) = (exchange, fixtures)
        let hash = fixtures.clientDataHash
        records = (0..<rounds * fixtures.devices.count).map { number in
            let (index, counter) = (number % fixtures.devices.count, UInt32(number / fixtures.devices.count + 1))
            let device = fixtures.devices[index]
            let value =
                number % Self.share == 0
                ? exchange.exchange(of: index, counter: counter)
                : Fixtures.value(device.assertion(clientDataHash: hash, counter: counter), of: device, hash)
            return .record(exchange.record(value, of: device, number))
        }
    }

    func all() throws -> [Candidate] {
        let slow = SigningKey(SlowKey(key: exchange.signing, milliseconds: Self.milliseconds))
        var held = try exchange.settings()
        held.exchange.keys.tokens = try TokenKeyRing([TokenKey(kid: "Kx3_Qa", algorithm: .rs256, key: slow)])
        return [
            candidate("key in this process", try exchange.settings(), waiting: Self.waitingLanes),
            candidate("\(Self.milliseconds) ms for a signature", held, waiting: Self.waitingLanes),
            candidate("\(Self.milliseconds) ms for a signature, on the verifying lanes", held, waiting: 0),
        ]
    }

    private func candidate(_ name: String, _ settings: PipelineSettings, waiting: Int) -> Candidate {
        let count = ProcessInfo.processInfo.activeProcessorCount
        let watch = SigningLab.watch()
        func scratches(_ count: Int) -> [LaneScratch] {
            (0..<count).map { _ in
                let engine = BatchEngine(ExchangeCandidates.fastest, watch: watch)
                return LaneScratch(verifier: ObjectVerifier(anchors: fixtures.anchors), engine: engine)
            }
        }
        let lanes = DispatchLanes(scratches: scratches(count), waiting: scratches(waiting))
        let (records, ledger, time) = (records, exchange.registered(), fixtures.time)
        return Candidate(name, lanes: count) {
            let (streams, posts) = (StageStreams(records), Posts())
            let loop = BatchLoop(
                streams: StreamRoles(source: streams, transaction: streams, hasLedgers: true),
                settings: settings,
                lanes: lanes,
                ledgers: [0: ledger],
                post: posts.add,
                wallClock: { time }
            )
            while let progress = try? loop.tick(waitMilliseconds: 0), progress != .finished {
                posts.run(waits: progress == .waiting)
            }
            precondition(loop.tally.accepted == records.count, "honest requests are accepted")
            return records.count
        }
    }
}

/// A key elsewhere, which takes its time without a core of this machine.
private struct SlowKey: HeldKey {
    let key: SigningKey
    let milliseconds: Int

    var publicKey: VerificationKey { key.publicKey }
    let isAvailable = true
    let fault: String? = nil

    func signature(of digest: Digest) -> [UInt8]? {
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
        return key.signature(of: digest)
    }

    func revive() {}
}

/// Blocks that lanes bring onto the loop's thread.
private final class Posts: Sendable {
    private let blocks = Locked<[@Sendable () -> Void]>([])
    private let arrivals = DispatchSemaphore(value: 0)

    func add(_ block: @escaping @Sendable () -> Void) {
        blocks.withLock { $0.append(block) }
        arrivals.signal()
    }

    /// - Parameter waits: whether the loop has nothing to do before the next block.
    func run(waits: Bool) {
        guard waits || arrivals.wait(timeout: .now()) == .success else { return }
        if waits { arrivals.wait() }
        let next = blocks.withLock { $0.removeFirst() }
        next()
    }
}
