internal import AppCheck
internal import Pipeline

/// The present files, as far as a running worker can apply them: the apps, the lists of keys and the key files.
package struct Reload {
    package let loaded: LoadedConfiguration
    /// Other changes, which wait for a restart, by their places in the files.
    package let postponed: [String]
    /// The signing keys that it revokes where it takes nothing else.
    package let revoked: [String]

    /// - Throws: ``ConfigurationFault`` where a file is bad, or a key or an app is gone that is still needed.
    package init(_ files: ConfigurationFiles, after running: LoadedConfiguration) throws(ConfigurationFault) {
        let old = running.configuration
        let fresh = try Configuration.load(files, mode: old.challenges.mode)
        assert(running.keys.absent.isEmpty, "only a replay goes on without keys, and it does not reload")
        let keys = try ExchangeKeys.load(fresh, after: running.keys)
        try KeyHistory.check(keys, after: running.keys)
        let (next, postponed) = try old.renewed(by: fresh)
        assert(next.challenges.mode == old.challenges.mode, "the mode waits for a restart")
        (self.postponed, revoked) = (postponed, [])
        loaded = LoadedConfiguration(configuration: next, keys: keys)
    }

    /// The revocations in worker.json alone, for when a file is bad: a stolen key must not sign until that is right.
    ///
    /// - Returns: nil where no key in use is revoked.
    package init?(revocationsIn files: ConfigurationFiles, after running: LoadedConfiguration) {
        let old = running.keys
        let kids = KeyLists.revoked(in: files).intersection(old.rings.tokens.keys.map(\.kid))
        guard !kids.isEmpty, let tokens = try? old.rings.tokens.revoking(kids) else { return nil }
        var (next, keys) = (running.configuration, old)
        for index in next.signingKeys.indices where kids.contains(next.signingKeys[index].kid) {
            next.signingKeys[index].state = .revoked
        }
        keys.rings.tokens = tokens
        (postponed, revoked) = ([], kids.sorted())
        loaded = LoadedConfiguration(configuration: next, keys: keys)
    }
}

extension Configuration {
    /// What runs after a reload: apps and lists of changed files, and the rest as it is.
    ///
    /// - Throws: ``ConfigurationFault`` where an app's name was given to another.
    package func renewed(
        by fresh: Configuration
    ) throws(ConfigurationFault) -> (configuration: Configuration, postponed: [String]) {
        try RetiredNames.check(fresh.registry, after: registry)
        var renewed = self
        renewed.registry = fresh.registry
        renewed.emptyLists = fresh.emptyLists
        var postponed = WorkerFile.settings.renew(&renewed, fresh)
        let isSame = kafkaProperties.elementsEqual(fresh.kafkaProperties) { $0.name == $1.name && $0.value == $1.value }
        if !isSame { postponed.append("kafka.properties") }
        return (renewed, postponed)
    }
}
