/// A configuration that cannot be used: one line that names the file, the place in it, and what to do.
package struct ConfigurationFault: ExplainedFault, Equatable {
    package let message: String
    package var sentence: String { message }
    package var exitCode: Int32 { ExitCode.usage }

    package init(_ message: String) { self.message = message }
}
