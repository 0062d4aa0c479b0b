package import AppAttest
package import Crypto

/// Second points of the keys that are in use, by their slots: 64 bytes each, and 4 bytes for every slot of a segment in
/// which one is.
struct SecondPoints {
    private static let segmentCount = 1024
    /// The place of each slot's point + 1, by segments of slots; 0 = none. A segment without points is empty.
    private var places: [[UInt32]] = []
    /// The points, in segments as well, so that growth has no spike.
    private var points: [[P256SecondPoint]] = []
    /// Places whose points were removed.
    private var free: [UInt32] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    subscript(slot: UInt32) -> P256SecondPoint? {
        guard let place = place(of: slot) else { return nil }
        return points[place / Self.segmentCount][place % Self.segmentCount]
    }

    mutating func set(_ slot: UInt32, _ point: P256SecondPoint) {
        let place = place(of: slot) ?? newPlace(for: slot)
        let (segment, index) = (place / Self.segmentCount, place % Self.segmentCount)
        if segment == points.count {
            points.append([])
            points[segment].reserveCapacity(Self.segmentCount)
        }
        if index == points[segment].count { points[segment].append(point) } else { points[segment][index] = point }
    }

    mutating func remove(_ slot: UInt32) {
        guard let place = place(of: slot) else { return }
        places[Int(slot) / Self.segmentCount][Int(slot) % Self.segmentCount] = 0
        free.append(UInt32(place))
        count -= 1
    }

    private func place(of slot: UInt32) -> Int? {
        let segment = Int(slot) / Self.segmentCount
        guard segment < places.count, !places[segment].isEmpty else { return nil }
        let place = places[segment][Int(slot) % Self.segmentCount]
        return place == 0 ? nil : Int(place) - 1
    }

    private mutating func newPlace(for slot: UInt32) -> Int {
        let segment = Int(slot) / Self.segmentCount
        while places.count <= segment { places.append([]) }
        if places[segment].isEmpty { places[segment] = Array(repeating: 0, count: Self.segmentCount) }
        // Places without a gap: those in use, then those given back.
        let place = free.popLast() ?? UInt32(count)
        places[segment][Int(slot) % Self.segmentCount] = place + 1
        count += 1
        return Int(place)
    }
}

/// The second points of keys in use: in memory only, neither written nor received.
extension KeyLedger {
    /// Keeps a point until the key is removed or gets another public key. Does nothing where the ledger does not have
    /// this public key.
    ///
    /// - Parameters:
    ///   - second: 2^128 times `publicKey`.
    ///   - publicKey: the key that the point was computed from.
    package mutating func setSecond(_ second: P256SecondPoint, of key: KeyID, publicKey: P256PublicKey) {
        guard let slot = find(key), self.publicKey(at: slot) == publicKey else { return }
        secondPoints.set(slot, second)
    }

    /// How many keys have a second point.
    package var secondCount: Int { secondPoints.count }
}
