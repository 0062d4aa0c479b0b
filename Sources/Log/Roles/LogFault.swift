/// A fault of the world in the log. All other faults end the loop.
package protocol LogFault: Error {
    /// The log cannot go on, whatever is retried.
    var endsLoop: Bool { get }
    /// The work in progress must be aborted; otherwise the same call may be made again.
    var requiresAbort: Bool { get }
    /// The log refuses one of the appended records on every try: too large, for example.
    var isRecordFault: Bool { get }
    /// Another process acts under this one's name.
    var isFenced: Bool { get }
    /// The unit ran out of time: the share of its records acknowledged until then, 0 to 1. nil = another fault.
    var acknowledgedShare: Double? { get }
}

extension LogFault {
    package var isRecordFault: Bool { false }
    package var isFenced: Bool { false }
    package var acknowledgedShare: Double? { nil }
}
