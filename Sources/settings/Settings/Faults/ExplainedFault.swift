/// A fault that defines how a command ends: its exit code, and one sentence that says what to do.
package protocol ExplainedFault: Error {
    var exitCode: Int32 { get }
    var sentence: String { get }
    /// The lines that a terminal shows: the sentence, or a line for each thing that is wrong.
    var lines: [String] { get }
}

extension ExplainedFault {
    package var lines: [String] { [sentence] }
}

/// The command could not do its work.
package struct CommandFault: ExplainedFault, Equatable {
    package let sentence: String
    package var exitCode: Int32 { ExitCode.failed }

    package init(_ sentence: String) { self.sentence = sentence }
}

package enum ExitCode {
    /// The work is done; refused records are results, not failures.
    package static let done: Int32 = 0
    /// The work or the world failed: a broker down, topics that do not match.
    package static let failed: Int32 = 1
    /// Wrong usage or configuration: nothing was started.
    package static let usage: Int32 = 2
}

/// An invalid configuration: lines that name the file, the place in it, and the remedy, one for each thing that is wrong.
package struct ConfigurationFault: ExplainedFault, Equatable {
    package let lines: [String]
    package var message: String { lines.joined(separator: "\n") }
    package var sentence: String { message }
    package private(set) var exitCode = ExitCode.usage
    /// Whether something does not answer, and may yet.
    private(set) var isSilence = false

    package init(_ message: String) { lines = [message] }

    /// A fault of what the configuration names, which may pass: another try may help.
    package init(ofWorld message: String, isSilence: Bool = false) {
        (lines, exitCode, self.isSilence) = ([message], ExitCode.failed, isSilence)
    }

    /// - Parameter lines: at least one.
    package init(lines: [String]) { self.lines = lines }
}

/// Collects what is wrong, so that one run shows all of it.
package struct FaultList {
    private var lines: [String] = []

    /// Goes on after a fault.
    ///
    /// - Returns: nil where there was one.
    @discardableResult
    package mutating func attempt<Value>(_ work: () throws(ConfigurationFault) -> Value) -> Value? {
        do throws(ConfigurationFault) { return try work() } catch {
            add(error)
            return nil
        }
    }

    package mutating func add(_ fault: ConfigurationFault) { lines += fault.lines }

    /// - Throws: all that was collected; returns where nothing was.
    package func check() throws(ConfigurationFault) {
        if !lines.isEmpty { throw ConfigurationFault(lines: lines) }
    }
}
