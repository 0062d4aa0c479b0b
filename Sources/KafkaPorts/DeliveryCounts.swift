/// How many deliveries have ended since the producer was made.
package struct DeliveryCounts: Sendable, Equatable {
    package var acknowledged: Int
    /// Records that failed, or may have failed.
    package var failed: Int

    package init(acknowledged: Int = 0, failed: Int = 0) {
        self.acknowledged = acknowledged
        self.failed = failed
    }
}
