/// The most that one batch takes.
package struct BatchLimits: Sendable, Equatable {
    package var records: Int
    package var bytes: Int
    /// The longest time from the first record on.
    package var milliseconds: Int

    package init(records: Int = 10_000, bytes: Int = 8_388_608, milliseconds: Int = 100) {
        self.records = records
        self.bytes = bytes
        self.milliseconds = milliseconds
    }
}
