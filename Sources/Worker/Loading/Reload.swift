internal import AppCheck

/// The present files, as far as a running worker can apply them: the apps, the lists of keys and the key files.
struct Reload {
    let loaded: LoadedConfiguration
    /// Other changes, which wait for a restart, by their places in the files.
    let postponed: [String]

    /// - Throws: ``ConfigurationFault`` where a file is bad, or a key is gone that is still needed (``KeyHistory``).
    init(_ files: ConfigurationFiles, after running: LoadedConfiguration) throws(ConfigurationFault) {
        let old = running.configuration
        let fresh = try Configuration.load(files, mode: old.challenges.mode)
        let keys = try ExchangeKeys.load(fresh)
        try KeyHistory.check(keys, after: running.keys)
        var next = old
        next.registry = fresh.registry
        next.emptyLists = fresh.emptyLists
        next.signingKeys = fresh.signingKeys
        next.sealingKeys = fresh.sealingKeys
        next.challenges.keys = fresh.challenges.keys
        loaded = LoadedConfiguration(configuration: next, keys: keys)
        postponed = Self.differences(old, fresh)
    }

    /// The differences between two configurations that need a restart.
    private static func differences(_ old: Configuration, _ new: Configuration) -> [String] {
        let parts: [(name: String, isSame: Bool)] = [
            ("topics", old.topics == new.topics), ("partitioner", old.partitioner == new.partitioner),
            ("delivery", old.delivery == new.delivery), ("membership", old.membership == new.membership),
            ("challenges.mode", old.challenges.mode == new.challenges.mode),
            ("challenges.ttl", old.challenges.ttlMilliseconds == new.challenges.ttlMilliseconds),
            ("anchors", old.anchors == new.anchors), ("clock", old.clock == new.clock),
            ("limits", old.limits == new.limits), ("batch", old.batch == new.batch), ("lanes", old.lanes == new.lanes),
            ("metrics", old.metricsPort == new.metricsPort),
            ("embeddedBroker", old.embeddedBroker == new.embeddedBroker),
            (
                "kafka.properties",
                old.kafkaProperties.elementsEqual(new.kafkaProperties) { $0.name == $1.name && $0.value == $1.value }
            ),
        ]
        return parts.filter { !$0.isSame }.map(\.name)
    }
}
