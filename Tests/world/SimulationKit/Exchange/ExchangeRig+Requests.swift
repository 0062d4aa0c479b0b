internal import AppAttest
package import AppCheck
package import DeviceLab
package import Pipeline
package import TestKit

/// Calls that need a fresh challenge, which the rig asks for first.
extension ExchangeRig {
    /// A rig in which a device is registered, with the device's artifact.
    package static func registered(
        _ settings: PipelineSettings? = nil,
        seed: UInt64 = 3
    ) throws -> (rig: ExchangeRig, device: FakeDevice, artifact: [UInt8]) {
        let rig = try ExchangeRig(settings ?? ExchangeKit.settings())
        let device = FakeDevice(ExchangeKit.model, seed: seed)
        return (rig, device, try rig.register(device))
    }

    package func challenge(_ resource: String = ExchangeKit.resource) throws -> [UInt8] {
        guard let challenge = try send(.challenge(resource)).challenge else { throw Stuck() }
        return challenge
    }

    /// - Returns: the request, not sent.
    package func attestation(
        of device: FakeDevice,
        limitedUse: Bool = false,
        resource: String = ExchangeKit.resource,
        at time: Int64 = ExchangeKit.start - 1000,
        fault: AttestationFault? = nil
    ) throws -> ExchangeRequest {
        .attestation(
            of: device,
            challenge: try challenge(resource),
            limitedUse: limitedUse,
            resource: resource,
            at: time,
            fault: fault
        )
    }

    /// The device's next assertion.
    ///
    /// - Returns: the request, not sent.
    package func assertion(
        of device: inout FakeDevice,
        _ artifact: [UInt8],
        limitedUse: Bool = false,
        resource: String = ExchangeKit.resource,
        version: String = "v1",
        fault: AssertionFault? = nil
    ) throws -> ExchangeRequest {
        .assertion(
            of: &device,
            artifact: artifact,
            challenge: try challenge(resource),
            limitedUse: limitedUse,
            resource: resource,
            version: version,
            fault: fault
        )
    }

    /// - Returns: its artifact.
    package func register(_ device: FakeDevice, resource: String = ExchangeKit.resource) throws -> [UInt8] {
        guard let artifact = try send(attestation(of: device, resource: resource)).artifact else { throw Stuck() }
        return artifact
    }

    /// Registers a device of each seed.
    package func register(_ seeds: Range<UInt64>) throws -> [(device: FakeDevice, artifact: [UInt8])] {
        try seeds.map { seed in
            let device = FakeDevice(ExchangeKit.model, seed: seed)
            return (device, try register(device))
        }
    }

    /// A token for a registered device.
    package func refresh(
        _ device: inout FakeDevice,
        _ artifact: [UInt8],
        limitedUse: Bool = false,
        resource: String = ExchangeKit.resource
    ) throws -> ExchangeAnswers {
        try send(assertion(of: &device, artifact, limitedUse: limitedUse, resource: resource))
    }

    /// The next assertion of each device.
    ///
    /// - Returns: the requests, not sent.
    package func assertions(
        of devices: inout [(device: FakeDevice, artifact: [UInt8])],
        limitedUse: Bool = false,
        resource: String = ExchangeKit.resource
    ) throws -> [ExchangeRequest] {
        try devices.indices.map { index in
            try assertion(
                of: &devices[index].device,
                devices[index].artifact,
                limitedUse: limitedUse,
                resource: resource
            )
        }
    }

    /// An operator's command about a device's key.
    ///
    /// - Parameter seed: tells commands of one time apart.
    package func command(
        _ action: OperatorCommand.Action,
        _ device: FakeDevice,
        seed: UInt8 = 0
    ) throws -> ExchangeRequest {
        try .command(.sample(action, .key(device.keyID), at: time, seed: seed), settings.exchange.keys)
    }

    /// The ledger's record of a key.
    package func key(_ device: FakeDevice) -> KeyRecord? {
        let partition = ExchangeKit.partition(of: device.keyID.recordKey, streams.partitions)
        return loop.ledgers[settings.ledgerPartition(partition)]?.keys[device.keyID]
    }
}
