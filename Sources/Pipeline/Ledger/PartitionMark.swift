package import AppAttest
package import Log

/// The ledger's record 04 of its partition: how far its requests were applied, by which group, and the stream time.
package struct PartitionMark: Hashable, Sendable {
    /// The highest evaluation time so far; nil = none was noted.
    package var streamTime: EvaluationTime?
    /// The position by which a take-over decides.
    package var position: PositionMark

    package init(
        streamTime: EvaluationTime? = nil,
        appliedOffset: Int64? = nil,
        group: [UInt8]? = nil,
        delivery: PositionMark.Delivery? = nil
    ) {
        self.streamTime = streamTime
        position = PositionMark(appliedOffset: appliedOffset, group: group, delivery: delivery)
    }
}
