import Broker
import Kafka
import Settings
import Testing

struct PartitionerTests {
    @Test(
        arguments: [
            (PartitionerSetting.murmur2, Partitioner.murmur2), (.crc32, .crc32), (.unchecked, nil),
        ] as [(PartitionerSetting, Partitioner?)]
    )
    func `a setting selects the partitioner of its name, or none`(setting: PartitionerSetting, chosen: Partitioner?) {
        #expect(setting.partitioner == chosen)
    }

    struct Vector: Sendable {
        let key: String
        let count: Int32
        let murmur2: Int32
        let crc32: Int32
    }

    @Test(arguments: [
        Vector(key: "fd7af248-ce5c-46a5-93d7-1c0c9005b99d", count: 32, murmur2: 26, crc32: 23),
        Vector(key: "354afe16-939a-4ea8-8e17-8bb0840b6886", count: 10, murmur2: 4, crc32: 9),
        Vector(key: "f562ac3b-2224-4e25-a0ab-56094e10c239", count: 10, murmur2: 5, crc32: 6),
    ])
    func `published keys are on the partitions where Java and librdkafka put them`(vector: Vector) {
        #expect(Partitioner.murmur2.partition(of: Array(vector.key.utf8), count: vector.count) == vector.murmur2)
        #expect(Partitioner.crc32.partition(of: Array(vector.key.utf8), count: vector.count) == vector.crc32)
    }

    /// Kafka's own test values of its hash; with this count the partition is the hash without its sign.
    static let hashes: [(String, Int32)] = [
        ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
        ("a-little-bit-longer-string", -1_486_304_829),
        ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971), ("abc", 479_470_107),
    ]

    @Test(arguments: hashes)
    func `the hash is Java's`(key: String, hash: Int32) {
        #expect(Partitioner.murmur2.partition(of: Array(key.utf8), count: .max) == (hash & .max) % .max)
    }
}
