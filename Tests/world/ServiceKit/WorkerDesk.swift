internal import AppCheck
internal import Pipeline
internal import Run
internal import Settings
internal import SimulationKit

/// A worker's machine: its files, its clock, and the watch that applies changed files.
final class WorkerDesk {
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

    init(_ name: String, _ world: ServiceWorld, _ files: ServiceFiles) {
        (self.name, self.world, self.files) = (name, world, files)
    }

    func move() {
        clock.tick(world.now)
        if isFresh || world.dice(4) == 0 { watch?.poll() }
    }

    /// The settings of a worker that starts; nil = it does not start, and a supervisor retries.
    func start() -> PipelineSettings? {
        isAsked.value = false
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
            keys,
            partitions: TopicPartitions(requests: Int32(world.broker.partitions.count))
        )
        settings.exchange.randomBytes = world.bytes(of: name)
        return settings
    }

    static func settings(_ files: ServiceFiles, _ folder: ServiceFolder, partitions: Int32) throws -> PipelineSettings {
        let loaded = try LoadedConfiguration.load(files.configuration(in: folder))
        return loaded.configuration.liveSettings(
            loaded.keys.rings,
            partitions: TopicPartitions(requests: partitions)
        )
    }
}
