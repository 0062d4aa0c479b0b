package import Foundation
internal import TestKit

/// A library that gives a process a wall clock of its own, made by the machine's compiler, and such clocks.
///
/// A process gets it by its environment, and its clock is set while it runs. Its monotonic clock stays the machine's.
package final class ClockShim: Sendable {
    /// The compiler of the toolchain, or the machine's; nil = there is none.
    package static let compiler: URL? = {
        let beside = KafkaInstallation.executable("swift")?.resolvingSymlinksInPath()
            .deletingLastPathComponent().appending(path: "clang")
        if let beside, FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
        return KafkaInstallation.executable("clang")
    }()

    package static let whyMissing = "no clang beside swift or on the PATH: no clock jumps"

    package let library: String
    private let folder: String
    private let stays: Bool

    /// - Parameter keep: where the library and the clocks lie, and stay; nil = a temporary folder that goes with this object.
    package init(keep: String?) throws {
        guard let compiler = Self.compiler else { throw ClusterFault(description: Self.whyMissing) }
        (folder, stays) = (
            keep ?? FileManager.default.temporaryDirectory.path + "/clocks-\(UUID().uuidString)", keep != nil
        )
        library = folder + "/clock.so"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        if !stays { try ProgramLeash.shared.hold(folder: folder) }
        let source = URL(filePath: #filePath).deletingLastPathComponent().path + "/clock_shim.c"
        let run = PythonLab.run([compiler.path, "-shared", "-fPIC", "-O1", source, "-o", library, "-ldl"])
        guard run.code == 0 else { throw ClusterFault(description: "\(source): \(run.error)") }
    }

    deinit {
        if !stays { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// The keeper's environment: it gives the library to brokers alone.
    var ofBrokers: [String: String] { ["CLOCK_SHIM": library, "CLOCK_FOLDER": folder] }

    /// Creates a clock that shows the machine's time, and replaces one of the same name.
    package func clock(_ name: String) throws -> ShimmedClock {
        let clock = ShimmedClock(shim: self, file: "\(folder)/\(name).clock")
        guard FileManager.default.createFile(atPath: clock.file, contents: ShimmedClock.bytes(0)) else {
            throw ClusterFault(description: "cannot write \(clock.file)")
        }
        return clock
    }
}

/// A wall clock that can be set, of every process that has its environment.
package struct ShimmedClock: Sendable {
    /// Held, since its folder goes with it.
    let shim: ClockShim
    let file: String

    package var environment: [String: String] { ["LD_PRELOAD": shim.library, "CLOCK_OFFSET": file] }

    /// Sets it so far ahead of the machine's; less than 0 = behind.
    package func set(milliseconds: Int) throws {
        // In place, since processes have mapped the file: eight bytes at once.
        let handle = try FileHandle(forUpdating: URL(filePath: file))
        defer { try? handle.close() }
        try handle.write(contentsOf: Self.bytes(milliseconds))
    }

    static func bytes(_ milliseconds: Int) -> Data {
        let bits = UInt64(bitPattern: Int64(milliseconds))
        // As the processor has it, which is little-endian wherever this runs.
        return Data((0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * UInt64($0))) })
    }
}
