package import AppAttest

/// The work of a fleet's devices, and how often they do it wrong.
package struct FleetPlan: Sendable {
    package enum ObjectKind: String, Sendable, CaseIterable { case attestation, assertion }

    package var ca: LabCA
    package var seed: UInt64
    /// App IDs, assigned to the devices in turn.
    package var appIDs: [String]
    package var environment = Environment.production
    package var shapes = DeviceShape.allCases
    /// The category of the devices' app; nil = as ``FakeDevice`` chooses.
    package var category: UInt32?
    package var bundleVersion: String?
    /// The length of the hash that the devices' app has signed.
    package var clientDataHashBytes = 32
    package var devices: Int
    /// All records, the devices' first attestations included.
    package var records: Int
    /// The devices' requests after each has attested once: with assertions among them, they assert; with attestations
    /// alone, they attest again. Faults are of these methods only.
    package var kinds = Set(ObjectKind.allCases)
    /// The part of the records after the first attestations that has a fault, 0 to 1.
    package var faultShare = 0.0
    /// The part of the devices' keys that lie on hardware of brokers, 0 to 1.
    package var brokerShare = 0.0
    /// The time of the first record, and the time between two.
    package var start: EvaluationTime
    package var nanosecondsApart: Int64 = 1_000_000

    package init(
        ca: LabCA,
        seed: UInt64,
        appIDs: [String],
        devices: Int,
        records: Int,
        start: EvaluationTime
    ) {
        precondition(devices > 0 && records >= 0 && !appIDs.isEmpty, "a fleet has devices and an app")
        (self.ca, self.seed, self.appIDs) = (ca, seed, appIDs)
        (self.devices, self.records, self.start) = (devices, records, start)
    }
}
