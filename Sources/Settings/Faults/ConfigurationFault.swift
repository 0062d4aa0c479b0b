/// An invalid configuration: one line that names the file, the place in it, and the remedy.
package struct ConfigurationFault: ExplainedFault, Equatable {
    package let message: String
    package var sentence: String { message }
    package var exitCode: Int32 { ExitCode.usage }

    package init(_ message: String) { self.message = message }
}
