internal import Foundation

extension RealCluster {
    private func filler(_ id: Int) -> String { "\(folder.path)/\(id)/data/filler" }

    /// Writes a broker's memory disk full, to the last byte.
    package func fillDisk(_ id: Int = 1) throws {
        precondition(settings.diskMegabytes != nil, "only a disk of its own may be filled")
        guard FileManager.default.createFile(atPath: filler(id), contents: nil) else {
            throw ClusterFault(description: "cannot write \(filler(id))")
        }
        // The path is lent for the call.
        let file = unsafe open(filler(id), O_WRONLY)
        defer { close(file) }
        for size in [1 << 20, 4096, 1] {
            let zeros = [UInt8](repeating: 0, count: size)
            // Bytes of an array that lives on, and their count.
            while unsafe zeros.withUnsafeBytes({ unsafe write(file, $0.baseAddress, $0.count) }) > 0 {}
        }
    }

    /// Gives the room back.
    package func clearDisk(_ id: Int = 1) throws { try FileManager.default.removeItem(atPath: filler(id)) }
}
