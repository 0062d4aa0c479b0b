internal import Pipeline

/// The present files, as far as a running worker can apply them: the apps, the lists of keys and the key files.
package struct Reload {
    package let loaded: LoadedConfiguration
    /// Other changes, which wait for a restart, by their places in the files.
    package let postponed: [String]

    /// - Throws: ``ConfigurationFault`` where a file is bad, or a key or an app is gone that is still needed.
    package init(_ files: ConfigurationFiles, after running: LoadedConfiguration) throws(ConfigurationFault) {
        let old = running.configuration
        let fresh = try Configuration.load(files, mode: old.challenges.mode)
        assert(running.keys.absent.isEmpty, "only a replay goes on without keys, and it does not reload")
        let keys = try ExchangeKeys.load(fresh, after: running.keys)
        try KeyHistory.check(keys, after: running.keys)
        try RetiredNames.check(fresh.registry, after: old.registry)
        var next = old
        next.registry = fresh.registry
        next.emptyLists = fresh.emptyLists
        var postponed = WorkerFile.settings.renew(&next, fresh)
        if !old.hasProperties(of: fresh) { postponed.append("kafka.properties") }
        assert(next.challenges.mode == old.challenges.mode, "the mode waits for a restart")
        self.postponed = postponed
        loaded = LoadedConfiguration(configuration: next, keys: keys)
    }
}

extension Configuration {
    /// Whether kafka.properties says the same.
    func hasProperties(of other: Configuration) -> Bool {
        kafkaProperties.elementsEqual(other.kafkaProperties) { $0.name == $1.name && $0.value == $1.value }
    }
}
