/// The command could not do its work.
package struct CommandFault: ExplainedFault, Equatable {
    package let sentence: String
    package var exitCode: Int32 { ExitCode.failed }

    package init(_ sentence: String) { self.sentence = sentence }
}
