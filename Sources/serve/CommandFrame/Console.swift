internal import Glibc
package import Settings
internal import Telemetry
internal import Threads

/// A command's output: results on standard output, errors and progress on standard error.
///
/// The thread that runs the command uses it.
package struct Console {
    private let writeOutput: ([UInt8]) throws -> Void
    private let writeError: ([UInt8]) -> Void
    private let failure = StreamFailure()
    /// Whether standard error is a terminal: progress is a bar there and plain lines elsewhere.
    package let isTerminal: Bool
    private let isInForeground: () -> Bool

    /// - Parameter isInForeground: whether the terminal is this command's to draw on.
    package init(
        isTerminal: Bool,
        isInForeground: @escaping () -> Bool = { true },
        output: @escaping ([UInt8]) throws -> Void,
        error: @escaping ([UInt8]) -> Void
    ) {
        (self.isTerminal, self.isInForeground) = (isTerminal, isInForeground)
        writeOutput = output
        writeError = error
    }

    /// The process's own streams.
    package static var standard: Console {
        Console(
            isTerminal: isatty(STDERR_FILENO) == 1,
            isInForeground: { Terminal.isOurs },
            output: { try Descriptor.write($0, to: STDOUT_FILENO) },
            error: { try? Descriptor.write($0, to: STDERR_FILENO) }
        )
    }

    /// A line on standard output, or several. Whatever a caller overlooked, nothing invisible reaches a terminal.
    package func print(_ line: String) { write(Array(line.printableLines.utf8) + [0x0A]) }

    /// A line of JSON on standard output.
    package func print(json: [UInt8]) { write(VisibleJSON.of(json) + [0x0A]) }

    /// A reader that went away (a closed pipe) is not the command's fault: the rest of its output is dropped. Every
    /// other failure ends the program with ``outputFault`` once the command is done.
    package func write(_ bytes: [UInt8]) {
        do { try writeOutput(bytes) } catch let fault as WriteFault where fault.isBrokenPipe {
            return
        } catch { failure.note(error) }
    }

    /// Writes bytes that are the command's whole purpose.
    ///
    /// - Throws: ``CommandFault`` where they do not arrive (a full disk); a silent fault where the reader went away.
    package func deliver(_ bytes: [UInt8]) throws {
        do { try writeOutput(bytes) } catch let fault as WriteFault where fault.isBrokenPipe {
            throw SilentEnd()
        } catch { throw StreamFailure.fault(error) }
    }

    /// The fault that kept lines from standard output; nil if all of them arrived.
    package var outputFault: CommandFault? { failure.first }

    package func printError(_ line: String) { writeError(Array(line.printableLines.utf8) + [0x0A]) }

    /// Draws a progress bar over the last one; not in the background (`&`), where the terminal's line is the shell's.
    package func draw(_ text: String) { if isInForeground() { writeError(Array(text.utf8)) } }
}

/// The first failure of a stream. Shared by the copies of a console.
private final class StreamFailure {
    private var owner = Owner("Console")
    private(set) var first: CommandFault?

    func note(_ error: any Error) {
        owner.check()
        if first == nil { first = Self.fault(error) }
    }

    static func fault(_ error: any Error) -> CommandFault {
        let reason = (error as? WriteFault).map { POSIXText.describe($0.code) } ?? String(describing: error)
        return CommandFault("cannot write to standard output: \(reason).")
    }
}
