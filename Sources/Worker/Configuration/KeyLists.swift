internal import AppCheck

/// The lists of key files in worker.json.
enum KeyLists {
    static func signingKeys(
        _ root: ConfigurationObject,
        _ files: ConfigurationFiles
    )
        throws(ConfigurationFault) -> [SigningKeyEntry]
    {
        var entries: [SigningKeyEntry] = []
        for object in try root.objects("signingKeys", keys: ["kid", "algorithm", "file", "state"]) {
            let entry = SigningKeyEntry(
                kid: try object.name("kid"),
                algorithm: try object.choice("algorithm", default: .rs256),
                file: files.resolve(try object.name("file")),
                state: try object.choice("state", default: .active)
            )
            guard !entries.contains(where: { $0.kid == entry.kid })
            else { throw object.fault("kid", "appears twice; give each key its own") }
            guard
                entry.state != .active
                    || !entries.contains(where: { $0.state == .active && $0.algorithm == entry.algorithm })
            else {
                throw object.fault("state", "one \(entry.algorithm.rawValue) key is already active; publish the other")
            }
            entries.append(entry)
        }
        return entries
    }

    static func keys(
        _ key: StaticString,
        of root: ConfigurationObject,
        _ files: ConfigurationFiles
    )
        throws(ConfigurationFault) -> [KeyEntry]
    {
        var entries: [KeyEntry] = []
        for object in try root.objects(key, keys: ["id", "file"]) {
            let entry = KeyEntry(id: try object.name("id"), file: files.resolve(try object.name("file")))
            guard !entries.contains(where: { $0.id == entry.id })
            else { throw object.fault("id", "appears twice; give each key its own") }
            entries.append(entry)
        }
        return entries
    }
}
