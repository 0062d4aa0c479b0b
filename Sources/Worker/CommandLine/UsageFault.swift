internal import Settings

/// The command line asks for something that does not exist or is impossible.
package struct UsageFault: ExplainedFault, Equatable {
    package let sentence: String
    package var exitCode: Int32 { ExitCode.usage }

    package init(_ sentence: String) { self.sentence = sentence }
}
