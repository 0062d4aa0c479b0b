/// Where a partition of the requests begins and ends, as a client knows it without asking.
struct PartitionEnds: Equatable {
    /// The first offset.
    var low: Int64 = 0
    /// The last stable offset: what lies behind it is not read before an open transaction has ended.
    var stable: Int64 = 0
    /// The high watermark.
    var high: Int64 = 0

    /// Offsets that are still to be answered.
    ///
    /// - Parameter position: up to where everything is answered, markers behind the last record included; nil = nothing
    ///   was ever committed.
    func lag(behind position: Int64?) -> Int64 { max(0, high - (position ?? low)) }

    /// Offsets that open transactions hold back.
    var unstable: Int64 { max(0, high - stable) }
}
