/// The outcome of each record that names a device or could have, 12 bytes each, in the order of the capture.
struct RefusalTimeline {
    struct Mark {
        let time: Int64
        let outcome: OutcomeList.Index
    }

    /// The device of a record that names none.
    static let nobody = Int(UInt32.max)
    private static let attestation: UInt64 = 0x80

    private let most: Int
    private var devices: [UInt32] = []
    /// Time in the upper 56 bits, then whether it is an attestation's.
    private var marks: [UInt64] = []
    private(set) var isFull = false

    init(most: Int = 1 << 22) { self.most = most }

    /// - Parameter time: milliseconds since 1970, not negative.
    mutating func add(_ device: Int, _ time: Int64, _ outcome: OutcomeList.Index, isAttestation: Bool = false) {
        guard marks.count < most else { return isFull = true }
        devices.append(UInt32(truncatingIfNeeded: device))
        marks.append(UInt64(bitPattern: time) << 8 | (isAttestation ? Self.attestation : 0) | UInt64(outcome))
    }

    func forEach(_ body: (_ device: Int, _ mark: Mark, _ isAttestation: Bool) -> Void) {
        for (device, mark) in zip(devices, marks) {
            body(Int(device), Self.mark(mark), mark & Self.attestation != 0)
        }
    }

    /// The marks of these devices, in order.
    func marks(of places: [Int]) -> [Int: [Mark]] {
        var found = Dictionary(uniqueKeysWithValues: places.map { (UInt32(truncatingIfNeeded: $0), [Mark]()) })
        guard !found.isEmpty else { return [:] }
        for (device, mark) in zip(devices, marks) where found[device] != nil { found[device]?.append(Self.mark(mark)) }
        return Dictionary(uniqueKeysWithValues: found.map { (Int($0), $1) })
    }

    private static func mark(_ word: UInt64) -> Mark {
        Mark(time: Int64(word >> 8), outcome: OutcomeList.Index(truncatingIfNeeded: word & ~attestation))
    }
}
