import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit

extension ExchangeRig {
    /// A rig, and a device that it does not know.
    static func fresh(_ settings: PipelineSettings? = nil) throws -> (rig: ExchangeRig, device: FakeDevice) {
        (try ExchangeRig(settings ?? ExchangeKit.settings()), FakeDevice(ExchangeKit.model, seed: 3))
    }
}

/// A rig, a device that is registered in it, and an operator.
struct BanBench {
    static let fid = OperatorCommand.Subject.installation(BanID.installation("fid-1"))

    let rig: ExchangeRig
    var device = FakeDevice(ExchangeKit.model, seed: 3)
    let artifact: [UInt8]
    let keys: KeyRings
    private var commands: UInt8 = 0

    init(partitions: Int32 = 1) throws {
        keys = try ExchangeKit.keys()
        rig = try ExchangeRig(ExchangeKit.settings(keys: keys, partitions: partitions), partitions: partitions)
        artifact = try rig.register(device)
    }

    /// - Parameters:
    ///   - subject: nil = the device's key.
    ///   - until: in milliseconds from now.
    mutating func command(
        _ verb: OperatorCommand.Action = .ban,
        _ subject: OperatorCommand.Subject? = nil,
        on partition: Int32? = nil,
        until: Int64? = nil
    ) throws -> ExchangeRequest {
        commands += 1
        let command = OperatorCommand.sample(
            verb,
            subject ?? .key(device.keyID),
            at: rig.time,
            seed: commands,
            on: partition,
            until: until.map { rig.time + $0 }
        )
        return try .command(command, keys)
    }

    mutating func assertion(limitedUse: Bool = false) throws -> ExchangeRequest {
        try rig.assertion(of: &device, artifact, limitedUse: limitedUse)
    }

    /// The verdict on a fresh assertion of the device.
    ///
    /// - Parameter time: when the broker has stamped it, whatever the worker's clock says; nil = now.
    mutating func refresh(at time: Int64? = nil) throws -> String? {
        let request = try assertion()
        return try rig.send(time.map(request.at) ?? request).summary
    }

    var ban: Ban? { rig.loop.ledgers[0]?.bans[BanID.key(device.keyID)] }
    /// The last record of the ban on the ledger topic; nil in it = a tombstone.
    var written: [UInt8]?? {
        let key = LedgerCodec.encode(.banLifted(BanID.key(device.keyID))).key
        return rig.streams.ledger.last { $0.key == key }.map(\.value)
    }
}
