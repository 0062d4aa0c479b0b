package import AppCheck

/// How much traffic a simulation makes, and of what kind.
package struct SimulationSettings: Sendable {

    /// The verbs that need no keys of the worker's own.
    package static let plainVerbs: Set<Verb> = [.verifyAttestation, .verifyAssertion]

    /// Captures are written for a topic with this many partitions; `replay` takes any number.
    package static let capturePartitions: Int32 = 4

    package var devices: Int
    package var records: Int
    package var verbs = plainVerbs
    /// The share of the records after each device's first that are faulty, 0 to 1.
    package var faultShare: Double = 0
    /// The share of the devices' keys that lie on hardware which attests for many, 0 to 1.
    package var brokerShare: Double = 0
    package var seed: UInt64 = 1
    /// The first record's time, milliseconds since 1970.
    package var start: Int64 = 0
    /// Records per second; nil = 1 ms apart.
    package var rate: Double?

    /// The life of sealed challenges, milliseconds; nil = the gateway makes challenges and the worker judges none.
    package var challengeLife: Int64?

    package init(devices: Int, records: Int) { (self.devices, self.records) = (devices, records) }

    /// Nanoseconds between two records.
    package var interval: Int64 { rate.map { Int64(1_000_000_000 / $0) } ?? 1_000_000 }
    /// The time from the first record to the last, in milliseconds.
    package var span: Int64 { Int64(Double(records - 1) * Double(interval) / 1_000_000) }
}
