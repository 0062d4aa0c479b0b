/// The program's exit codes.
package enum ExitCode {
    /// The work is done; refused records are results, not failures.
    package static let done: Int32 = 0
    /// The work or the world failed: a broker down, topics that do not match.
    package static let failed: Int32 = 1
    /// Wrong usage or configuration: nothing was started.
    package static let usage: Int32 = 2
}

/// A fault that defines how a command ends: its exit code, and one sentence that says what to do.
package protocol ExplainedFault: Error {
    var exitCode: Int32 { get }
    var sentence: String { get }
}

/// The command line asks for something that does not exist or is impossible.
package struct UsageFault: ExplainedFault, Equatable {
    package let sentence: String
    package var exitCode: Int32 { ExitCode.usage }

    package init(_ sentence: String) { self.sentence = sentence }
}

/// The command could not do its work.
package struct CommandFault: ExplainedFault, Equatable {
    package let sentence: String
    package var exitCode: Int32 { ExitCode.failed }

    package init(_ sentence: String) { self.sentence = sentence }
}

extension String {
    /// Errors are one line: line breaks and runs of spaces become one space, other control characters are dropped.
    package var oneLine: String {
        split(whereSeparator: \.isNewline).joined(separator: " ").printable
    }

    /// The part of a foreign text that is safe on a terminal: no control characters.
    package var printable: String {
        String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}
