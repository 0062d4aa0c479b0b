package import Kafka
package import Settings

extension PartitionerSetting {
    /// nil = keys are not checked against their partition.
    package var partitioner: Partitioner? {
        switch self {
        case .murmur2: .murmur2
        case .crc32: .crc32
        case .unchecked: nil
        }
    }
}
