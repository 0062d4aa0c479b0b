internal import AppCheck

/// The answers that were committed. Apps stand in it by name, and stay when a reload removes them.
package struct AnswerTally: Sendable, Equatable {
    /// Ids of apps, by place. Two projects may have apps of one id: they share a place.
    package private(set) var apps: [String] = []
    package private(set) var counts: [AnswerCounts.Key: Int] = [:]

    package init() {}

    /// An app's id; nil for a request that names no app of the registry.
    package func app(of key: AnswerCounts.Key) -> String? { key.app < 0 ? nil : apps[Int(key.app)] }

    /// The places of a registry's apps, by their indices; new ones get one.
    mutating func places(of registry: Registry) -> [Int32] { places(of: registry.apps.map(\.appID)) }

    package mutating func add(_ other: AnswerTally) {
        guard !other.apps.isEmpty || !other.counts.isEmpty else { return }
        let places = places(of: other.apps)
        for (key, count) in other.counts { add(key, count, places) }
    }

    /// - Parameter places: by the apps' indices.
    package mutating func add(_ batch: AnswerCounts, _ places: [Int32]) {
        for (key, count) in batch.entries { add(key, count, places) }
    }

    private mutating func add(_ key: AnswerCounts.Key, _ count: Int, _ places: [Int32]) {
        var key = key
        if key.app >= 0 { key.app = places[Int(key.app)] }
        counts[key, default: 0] += count
    }

    /// The same by ids.
    package mutating func places(of names: [String]) -> [Int32] {
        var known = Dictionary(uniqueKeysWithValues: apps.enumerated().map { ($1, Int32($0)) })
        return names.map { name in
            if let place = known[name] { return place }
            let place = Int32(apps.count)
            apps.append(name)
            known[name] = place
            return place
        }
    }
}
