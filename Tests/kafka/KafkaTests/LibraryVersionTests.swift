import Testing

@testable import Kafka

struct LibraryVersionTests {
    /// Before and at the version that its changelog names, and the two that Debian has.
    @Test(arguments: [
        (LibraryVersion(2, 0, 2), 1_000), (LibraryVersion(2, 1, 0), 1), (LibraryVersion(2, 8, 0), 1),
    ])
    func `a seek's unit is the library's`(version: LibraryVersion, units: Int) {
        #expect(version.seekUnitsPerMillisecond == units)
    }

    @Test(arguments: [
        (LibraryVersion(2, 0, 2), true), (LibraryVersion(2, 1, 0), false), (LibraryVersion(2, 8, 0), false),
        (LibraryVersion(2, 9, 9), false), (LibraryVersion(2, 10, 0), true), (LibraryVersion(3, 0, 0), true),
    ])
    func `leaders are woken where a seek does not`(version: LibraryVersion, wakes: Bool) {
        #expect(version.seekWakesLeader == wakes)
    }

    @Test(arguments: [
        (LibraryVersion(2, 1, 1), false), (LibraryVersion(2, 2, 0), true), (LibraryVersion(2, 8, 0), true),
    ])
    func `a full queue is looked at again as the library can`(version: LibraryVersion, hasBackoff: Bool) {
        #expect(version.hasFetchBackoff == hasBackoff)
    }

    @Test(arguments: [
        (LibraryVersion(2, 0, 2), false), (LibraryVersion(2, 8, 0), true), (LibraryVersion(2, 10, 0), true),
        (LibraryVersion(2, 10, 1), false),
    ])
    func `leaders are looked for early where the library is late`(version: LibraryVersion, isLate: Bool) {
        #expect(version.looksLateForLeaders == isLate)
    }

    @Test(arguments: [
        (LibraryVersion(2, 0, 2), true), (LibraryVersion(2, 12, 1), true), (LibraryVersion(2, 13, 0), false),
    ])
    func `a refused configuration is freed where the library has not freed it`(version: LibraryVersion, leaves: Bool) {
        #expect(version.leavesInterceptorsFreed == leaves)
    }

    @Test(arguments: [
        (LibraryVersion(2, 6, 0), false), (LibraryVersion(2, 6, 1), true), (LibraryVersion(2, 8, 0), true),
    ])
    func `SCRAM suits Kafka 4 from 2.6.1 on`(version: LibraryVersion, suits: Bool) {
        #expect(version.scramSuitsKafka4 == suits)
    }

    @Test(arguments: [
        (LibraryVersion(2, 0, 2), 0), (LibraryVersion(2, 4, 0), 0), (LibraryVersion(2, 5, 0), 1),
        (LibraryVersion(2, 8, 0), 1), (LibraryVersion(2, 10, 0), 1), (LibraryVersion(2, 10, 1), 0),
    ])
    func `metrics go to brokers only where the library sends them rightly`(version: LibraryVersion, count: Int) {
        #expect(version.defaults.count == count)
    }

    /// A default that the library does not know would refuse every client.
    @Test func `this process's library takes its defaults, and an operator's value over them`() throws {
        try KafkaProperties([]).validate()
        for (name, _) in LibraryVersion.current.defaults { try KafkaProperties([(name, "true")]).validate() }
        #expect(LibraryVersion.text.split(separator: ".").count >= 3)
    }
}
