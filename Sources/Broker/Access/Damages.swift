/// Distinguishes bytes damaged on disk from bytes damaged in transit: only the former are damaged on every read.
struct Damages {
    /// How many times in a row the same place must be unreadable.
    private static let most = 3

    private var found: [Int32: (position: Int64, times: Int)] = [:]

    /// - Parameter position: the offset before which everything was read.
    /// - Returns: whether reading it once more is useless.
    mutating func note(_ partition: Int32, at position: Int64) -> Bool {
        let times = found[partition].map { $0.position == position ? $0.times + 1 : 1 } ?? 1
        found[partition] = times < Self.most ? (position, times) : nil
        return times >= Self.most
    }
}
