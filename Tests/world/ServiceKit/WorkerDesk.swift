internal import AppCheck
internal import Crypto
internal import Pipeline
internal import Run
internal import Settings
internal import SimulationKit
internal import Telemetry
internal import TestKit

/// A worker's machine: its files, its clock, its keys, and the watches of them. Confined to the test's thread.
final class WorkerDesk: @unchecked Sendable {
    let name: String
    let clock = ServiceClock()
    private unowned let world: ServiceWorld
    var files: ServiceFiles {
        didSet {
            guard files != oldValue else { return }
            (isAsked.value, changedAt) = (true, world.now)
        }
    }
    private var changedAt: Int64 = .min / 2
    /// Whether a file has just changed: a worker sees it within a second, and applies it between two batches.
    var isFresh: Bool { world.now - changedAt < 3_000 }
    private let isAsked = Flag()
    private var watch: ConfigurationWatch?
    /// Its signing keys in a token, by `kid`, and the watch of them; none where keys are files.
    private var tokens: [String: UnsteadyKey] = [:]
    private var heldWatch: HeldKeyWatch?
    /// The shares of the token's calls that fail, and that do not return.
    private var failures = 0.0, hangs = 0.0
    private var polledAt: Int64 = 0

    init(_ name: String, _ world: ServiceWorld, _ files: ServiceFiles) {
        (self.name, self.world, self.files) = (name, world, files)
    }

    func move() {
        clock.tick(world.now)
        guard isFresh || world.now - polledAt >= 1_000 else { return }
        polledAt = world.now
        watch?.poll()
        heldWatch?.poll()
    }

    /// The token of its keys fails, or its signatures never return, until it is well again.
    func disturbToken(failures: Double, hangs: Double) {
        (self.failures, self.hangs) = (failures, hangs)
        for (_, key) in tokens.sorted(by: { $0.key < $1.key }) { disturb(key) }
    }

    private func disturb(_ key: UnsteadyKey) {
        key.set(failures: failures, hangs: hangs, isWell: failures + hangs < 1)
        if failures + hangs == 0 { key.release() }
    }

    /// The same keys, inside a token.
    private func hold(_ rings: KeyRings) -> KeyRings {
        guard world.plan.holdsKeys else { return rings }
        var held = rings
        do {
            let keys = try rings.tokens.keys.map { key in
                let inside = tokens[key.kid] ?? UnsteadyKey(key.key, seed: world.random.next())
                if tokens.updateValue(inside, forKey: key.kid) == nil { disturb(inside) }
                return try TokenKey(kid: key.kid, algorithm: key.algorithm, state: key.state, key: SigningKey(inside))
            }
            held.tokens = try TokenKeyRing(keys, revoked: ServiceFolder.kids.filter(rings.tokens.isRevoked))
        } catch { world.complain("\(name): \(error)") }
        if let heldWatch { heldWatch.use(held.tokens) }
        heldWatch = heldWatch ?? HeldKeyWatch(held.tokens) { [unowned self] in world.hear($0, from: name) }
        return held
    }

    /// The settings of a worker that starts; nil = it does not start, and a supervisor retries.
    func start() -> PipelineSettings? {
        (isAsked.value, heldWatch) = (false, nil)
        do throws(ConfigurationFault) {
            let loaded = try world.folder.loaded(files)
            try loaded.configuration.checkHasApp()
            watch = watch(loaded)
            return settings(loaded.configuration, loaded.keys.rings)
        } catch {
            world.note(name, "does not start: \(error.message)")
            world.hearRefusal(of: name)
            return nil
        }
    }

    private func watch(_ loaded: LoadedConfiguration) -> ConfigurationWatch {
        let (isAsked, folder, broker) = (isAsked, world.folder, world.broker)
        return ConfigurationWatch(
            directory: folder.path,
            running: loaded,
            present: { [unowned self] in files.configuration(in: folder) },
            isAsked: {
                defer { isAsked.value = false }
                return isAsked.value
            },
            elapsed: { .milliseconds(broker.now) },
            wallClock: { [unowned self] in broker.time + clock.ahead },
            apply: { [unowned self] configuration, keys, taken in
                world.fleet.replace(settings(configuration, keys), of: name, taken: taken)
            },
            say: { [unowned self] in world.hear($0, from: name) }
        )
    }

    private func settings(_ configuration: Configuration, _ keys: KeyRings) -> PipelineSettings {
        var settings = configuration.liveSettings(
            hold(keys),
            partitions: TopicPartitions(requests: Int32(world.broker.partitions.count), replies: world.plan.replies)
        )
        settings.exchange.randomBytes = world.bytes(of: name)
        return settings
    }

    static func settings(
        _ files: ServiceFiles,
        _ folder: ServiceFolder,
        requests: Int32,
        replies: Int32?
    ) throws -> PipelineSettings {
        let loaded = try LoadedConfiguration.load(files.configuration(in: folder))
        return loaded.configuration.liveSettings(
            loaded.keys.rings,
            partitions: TopicPartitions(requests: requests, replies: replies)
        )
    }
}
