internal import CLibFuzzer
internal import Foundation

/// Runs one fuzz target: `TARGET --seeds DIR` writes its starting corpus, anything else goes to libFuzzer.
package enum FuzzDriver {
    // Set once before libFuzzer starts, which calls back on the same thread.
    nonisolated(unsafe) private static var target: ([UInt8]) -> Void = { _ in }

    /// - Parameters:
    ///   - seeds: valid inputs to start from.
    ///   - target: takes one input; traps where an invariant is broken.
    /// - Returns: the exit code.
    package static func run(seeds: () -> [[UInt8]], target: @escaping ([UInt8]) -> Void) -> Int32 {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "--seeds" { return write(seeds(), to: arguments[2]) }
        for seed in seeds() { target(seed) }
        unsafe Self.target = target
        var count = CommandLine.argc
        var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = unsafe CommandLine.unsafeArgv
        // libFuzzer reads the process's own arguments, and lends each input for the duration of the callback.
        return unsafe LLVMFuzzerRunDriver(&count, &values) { bytes, size in
            unsafe FuzzDriver.target(Array(UnsafeBufferPointer(start: bytes, count: size)))
            return 0
        }
    }

    private static func write(_ seeds: [[UInt8]], to folder: String) -> Int32 {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for (index, seed) in seeds.enumerated() {
                try Data(seed).write(to: URL(filePath: "\(folder)/seed-\(index)"))
            }
            return 0
        } catch {
            print("cannot write seeds to \(folder): \(error.localizedDescription)")
            return 1
        }
    }
}
