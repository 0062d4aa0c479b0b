internal import Settings

/// The end of a command whose sentence is in the log already.
struct LoggedFault: ExplainedFault {
    let exitCode: Int32
    let sentence = ""
}
