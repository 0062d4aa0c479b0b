internal import AppAttest
internal import AppCheck
internal import Crypto

/// Devices and their counts, each by 16 bytes of a digest: a million of them take some 100 MB.
///
/// A device is named by its installation id, as in events, else by its key ID. A key that was seen with an installation
/// id belongs to that device from then on, since a stock client makes a new key after a refusal.
struct DeviceTable {
    struct Device {
        /// The 16 hex digits that events have, as a number.
        var label: UInt64
        var records = 0
        /// Not accepted, dead letters excepted.
        var refused = 0
        var accepted = 0
        var reasons = ReasonSet()
        /// The last value that it had of each ``Dimension``; see ``ValueTally``.
        var values = SIMD8<ValueTally.ID>()
        /// The place of its last record that was not accepted.
        var lastRefused: (partition: Int32, offset: Int64) = (0, 0)
    }

    private struct Name: Hashable {
        let first: UInt64
        let second: UInt64

        init(_ text: [UInt8]) {
            let words = SHA256.hash(text).words
            (first, second) = (words.0, words.1)
        }
    }

    private var places: [Name: UInt32] = [:]
    private(set) var devices: [Device] = []
    /// Records of devices that were not counted any more.
    private(set) var recordsBeyond = 0
    private let most: Int

    /// - Parameter most: names that are kept apart; more devices than that are not counted.
    init(most: Int = 1 << 22) { self.most = most }

    subscript(place: Int) -> Device {
        get { devices[place] }
        _modify { yield &devices[place] }
    }

    /// The place of a record's device; nil where the record names none, or the table is full.
    mutating func place(installation: ExactText?, keyID: KeyID?) -> Int? {
        let key = keyID.map { Name($0.recordKey) }
        guard let name = installation.map({ Name($0.utf8) }) ?? key else { return nil }
        let known = places[name] ?? key.flatMap { places[$0] }
        let place = known ?? UInt32(devices.count)
        if known != nil {
            // From now on its events have the installation's digest.
            if installation != nil, places[name] == nil { devices[Int(place)].label = name.first }
        } else if places.count < most {
            devices.append(Device(label: name.first))
        } else {
            recordsBeyond += 1
            return nil
        }
        note(name, place)
        if let key { note(key, place) }
        return Int(place)
    }

    private mutating func note(_ name: Name, _ place: UInt32) {
        if places[name] == nil, places.count <= most { places[name] = place }
    }
}
