/// The program's exit codes.
package enum ExitCode {
    /// The work is done; refused records are results, not failures.
    package static let done: Int32 = 0
    /// The work or the world failed: a broker down, topics that do not match.
    package static let failed: Int32 = 1
    /// Wrong usage or configuration: nothing was started.
    package static let usage: Int32 = 2
}
