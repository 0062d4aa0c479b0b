internal import AppAttest

/// The keys that each device has attested for each app, for as long as Apple remembers them.
struct AttestedKeys {
    static let lifeSeconds: Int64 = 30 * 86_400

    /// A device, as far as its receipts tell.
    enum Hardware: Hashable {
        case number(UInt64)
        /// A device that names no hardware has one key.
        case key(KeyID)
    }

    private struct Place: Hashable {
        let appID: [UInt8]
        let hardware: Hardware
    }

    private var times: [Place: [KeyID: EvaluationTime]] = [:]

    /// A key that attests again still counts once, from its last attestation on.
    mutating func note(_ key: KeyID, of hardware: Hardware, for appID: [UInt8], at time: EvaluationTime) {
        let place = Place(appID: appID, hardware: hardware)
        let last = times[place]?[key] ?? time
        times[place, default: [:]][key] = max(last, time)
    }

    /// How many keys the device has attested for the app within 30 days; older ones are forgotten.
    mutating func count(of hardware: Hardware, for appID: [UInt8], at now: EvaluationTime) -> Int {
        let place = Place(appID: appID, hardware: hardware)
        let left = times[place]?.filter { now <= $0.value + Self.lifeSeconds } ?? [:]
        times[place] = left.isEmpty ? nil : left
        return left.count
    }
}
