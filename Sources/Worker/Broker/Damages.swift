/// Tells bytes that are damaged where they lie from bytes that were damaged on their way: the former are damaged again.
struct Damages {
    /// Times that the same place must be unreadable in a row.
    private static let most = 3

    private var found: [Int32: (position: Int64, times: Int)] = [:]

    /// - Parameter position: before which everything was read.
    /// - Returns: whether reading once more is of no use.
    mutating func note(_ partition: Int32, at position: Int64) -> Bool {
        let times = found[partition].map { $0.position == position ? $0.times + 1 : 1 } ?? 1
        found[partition] = times < Self.most ? (position, times) : nil
        return times >= Self.most
    }
}
