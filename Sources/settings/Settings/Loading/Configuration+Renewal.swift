internal import AppCheck

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
        if !hasProperties(of: fresh) { postponed.append("kafka.properties") }
        return (renewed, postponed)
    }
}
