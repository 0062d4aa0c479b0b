internal import Risk

/// Makes the calls to Apple.
protocol CallPort: AnyObject {
    /// Begins a call. Must not wait for anything.
    ///
    /// - Parameter end: called once, on any thread, within the time limit of a call.
    func begin(_ call: DueCall, end: @escaping @Sendable (CallReply) -> Void)
    /// Gives up what is under way; nothing is called back any more.
    func stop()
}
