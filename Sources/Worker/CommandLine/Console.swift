internal import Foundation

/// Where a command speaks: results on standard output, errors and progress on standard error.
///
/// Used from one thread: the one that runs the command.
package struct Console {
    private let writeOutput: ([UInt8]) throws -> Void
    private let writeError: ([UInt8]) -> Void
    /// Whether standard error is a terminal: progress is a bar there and plain lines elsewhere.
    package let isTerminal: Bool

    package init(
        isTerminal: Bool,
        output: @escaping ([UInt8]) throws -> Void,
        error: @escaping ([UInt8]) -> Void
    ) {
        self.isTerminal = isTerminal
        writeOutput = output
        writeError = error
    }

    /// The process's own streams.
    package static var standard: Console {
        Console(
            isTerminal: isatty(FileHandle.standardError.fileDescriptor) == 1,
            output: { try FileHandle.standardOutput.write(contentsOf: Data($0)) },
            error: { try? FileHandle.standardError.write(contentsOf: Data($0)) }
        )
    }

    /// A line on standard output.
    package func print(_ line: String) { write(Array(line.utf8) + [0x0A]) }

    /// A reader that went away (a closed pipe) is not the command's fault: what it would have read is dropped.
    package func write(_ bytes: [UInt8]) { try? writeOutput(bytes) }

    /// Bytes that are the command's whole purpose.
    ///
    /// - Throws: ``CommandFault`` where they do not arrive (a full disk, a reader that went away).
    package func deliver(_ bytes: [UInt8]) throws(CommandFault) {
        do { try writeOutput(bytes) } catch {
            throw CommandFault("cannot write to standard output: \(error.localizedDescription)")
        }
    }

    /// A line on standard error.
    package func printError(_ line: String) { writeError(Array(line.utf8) + [0x0A]) }

    /// Text on standard error as it is: what a progress bar needs.
    package func writeRaw(_ text: String) { writeError(Array(text.utf8)) }
}
