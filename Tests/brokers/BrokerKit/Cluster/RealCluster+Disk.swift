internal import Foundation
internal import TestKit

extension RealCluster {
    private func filler(_ id: Int) -> String { "\(folder.path)/\(id)/data/filler" }

    /// Writes a broker's memory disk full, to the last byte.
    package func fillDisk(_ id: Int = 1) throws {
        precondition(settings.diskMegabytes != nil, "only a disk of its own may be filled")
        let run = PythonLab.run(["LC_ALL=C", "dd", "if=/dev/zero", "of=\(filler(id))", "bs=1M"])
        guard run.error.contains("No space left") else { throw ClusterFault(description: "dd: \(run.error)") }
    }

    /// Gives the room back.
    package func clearDisk(_ id: Int = 1) throws { try FileManager.default.removeItem(atPath: filler(id)) }
}
