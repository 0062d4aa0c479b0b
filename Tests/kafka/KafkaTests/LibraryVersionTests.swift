import Testing

@testable import Kafka

struct LibraryVersionTests {
    /// How a version differs, by short names.
    private static func traits(of version: LibraryVersion) -> [String] {
        let all = [
            ("microseconds", version.seekUnitsPerMillisecond == 1_000), ("wakes", version.seekWakesLeader),
            ("backoff", version.hasFetchBackoff), ("late", version.looksLateForLeaders),
            ("half-freed", version.leavesInterceptorsFreed), ("scram", version.scramSuitsKafka4),
            ("metrics-off", version.defaults.map(\.0) == ["enable.metrics.push"]),
        ]
        return all.filter(\.1).map(\.0)
    }

    /// Before and at the versions that its changelog names, and the two that Debian has.
    @Test(arguments: [
        (LibraryVersion(2, 0, 2), "microseconds wakes half-freed"), (LibraryVersion(2, 1, 0), "late half-freed"),
        (LibraryVersion(2, 1, 1), "late half-freed"), (LibraryVersion(2, 2, 0), "backoff late half-freed"),
        (LibraryVersion(2, 4, 0), "backoff late half-freed"),
        (LibraryVersion(2, 5, 0), "backoff late half-freed metrics-off"),
        (LibraryVersion(2, 6, 0), "backoff late half-freed metrics-off"),
        (LibraryVersion(2, 6, 1), "backoff late half-freed scram metrics-off"),
        (LibraryVersion(2, 8, 0), "backoff late half-freed scram metrics-off"),
        (LibraryVersion(2, 9, 9), "backoff late half-freed scram metrics-off"),
        (LibraryVersion(2, 10, 0), "wakes backoff late half-freed scram metrics-off"),
        (LibraryVersion(2, 10, 1), "wakes backoff half-freed scram"),
        (LibraryVersion(2, 12, 1), "wakes backoff half-freed scram"), (LibraryVersion(2, 13, 0), "wakes backoff scram"),
        (LibraryVersion(3, 0, 0), "wakes backoff scram"),
    ])
    func `each version of the library has its own ways`(version: LibraryVersion, traits: String) {
        #expect(Self.traits(of: version).joined(separator: " ") == traits)
        #expect(version.seekUnitsPerMillisecond == (traits.hasPrefix("microseconds") ? 1_000 : 1))
    }

    /// A default that the library does not know would refuse every client.
    @Test func `this process's library takes its defaults, and an operator's value over them`() throws {
        try KafkaProperties([]).validate()
        for (name, _) in LibraryVersion.current.defaults { try KafkaProperties([(name, "true")]).validate() }
        #expect(LibraryVersion.text.split(separator: ".").count >= 3)
    }
}
