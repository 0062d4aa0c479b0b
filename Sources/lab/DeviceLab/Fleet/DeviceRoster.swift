package import Crypto

/// The keys of a fleet's first devices, made once for all lanes.
///
/// A value: lanes read the one that they were given, whatever is added meanwhile.
package struct DeviceRoster: Sendable {
    /// Devices whose keys are made together.
    package static let blockSize = 64
    /// The most devices that are kept, at about 400 bytes each; keys above are made again for each record.
    package static let maxKept = 2_000_000

    private var blocks: [[DeviceKey]] = []

    package init() {}

    package var blockCount: Int { blocks.count }

    package mutating func append(_ block: [DeviceKey]) { blocks.append(block) }

    /// nil where the device's key is not here.
    func key(_ device: Int) -> DeviceKey? {
        let (block, place) = device.quotientAndRemainder(dividingBy: Self.blockSize)
        guard block < blocks.count, place < blocks[block].count else { return nil }
        return blocks[block][place]
    }
}

extension FakeFleet {
    /// How many blocks hold the first devices, as far as devices are kept.
    package func blocks(forDevices count: Int) -> Int {
        let kept = min(count, plan.devices, DeviceRoster.maxKept)
        return (kept + DeviceRoster.blockSize - 1) / DeviceRoster.blockSize
    }

    /// The keys of a block's devices.
    ///
    /// - Parameter batch: the calling thread's own.
    package func block(_ number: Int, _ batch: LabBatch) -> [DeviceKey] {
        let start = number * DeviceRoster.blockSize
        let devices = start..<min(start + DeviceRoster.blockSize, plan.devices)
        return keys(of: Array(devices), batch)
    }

    func keys(of devices: [Int], _ batch: LabBatch) -> [DeviceKey] {
        let seeds = devices.map { FakeDevice.keySeed(plan.ca, seed(of: $0)) }
        return batch.keys(.p256, seeds: seeds).map { DeviceKey($0) }
    }
}
