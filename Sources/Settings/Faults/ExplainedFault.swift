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
