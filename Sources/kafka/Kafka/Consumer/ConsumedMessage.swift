internal import Streams

/// A message that was just polled: the next one tells how large its headers are.
struct ConsumedMessage: Sendable {
    let record: UncopiedRecord
    /// The bytes of key and value.
    let byteCount: Int
    /// The place of key and value in the library's memory: the address of the first byte, and the one after the last. 0
    /// = there is neither.
    let (start, end): (UInt, UInt)
    /// Its place in ``block``.
    let index: Int
    let block: MessageBlock

    /// An upper bound of the bytes of the headers of the message before this one, which decodes them only where it
    /// must.
    ///
    /// - Parameter last: polled before this one; another thread may be taking it.
    func headerBytes(of last: ConsumedMessage) -> Int {
        // In one answer of a broker a value is followed by its headers, and those by the next record: nothing that lies
        // less far from the value is shorter than they are.
        let isNear = start > 0 && last.end > 0 && start >= last.end && start - last.end <= Self.nearBytes
        return isNear ? Int(start - last.end) : last.block.headerBytes(last.index)
    }

    private static let nearBytes: UInt = 65_536
}
