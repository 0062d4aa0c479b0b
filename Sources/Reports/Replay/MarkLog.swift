/// The outcome of each record that names a device, 12 bytes each, in the order of the capture.
struct MarkLog {
    struct Mark {
        let time: Int64
        let outcome: OutcomeList.Index
    }

    private let most: Int
    private var devices: [UInt32] = []
    /// Time in the upper 56 bits.
    private var marks: [UInt64] = []
    private(set) var isFull = false

    init(most: Int = 1 << 22) { self.most = most }

    /// - Parameter time: milliseconds since 1970, not negative.
    mutating func add(_ device: Int, _ time: Int64, _ outcome: OutcomeList.Index) {
        guard marks.count < most else { return isFull = true }
        devices.append(UInt32(truncatingIfNeeded: device))
        marks.append(UInt64(bitPattern: time) << 8 | UInt64(outcome))
    }

    /// The marks of these devices, in order.
    func marks(of places: [Int]) -> [Int: [Mark]] {
        var found = Dictionary(uniqueKeysWithValues: places.map { (UInt32(truncatingIfNeeded: $0), [Mark]()) })
        guard !found.isEmpty else { return [:] }
        for (device, mark) in zip(devices, marks) where found[device] != nil {
            let outcome = OutcomeList.Index(truncatingIfNeeded: mark)
            found[device]?.append(Mark(time: Int64(mark >> 8), outcome: outcome))
        }
        return Dictionary(uniqueKeysWithValues: found.map { (Int($0), $1) })
    }
}
