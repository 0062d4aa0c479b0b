internal import AppAttest

/// Numbers for what many keys share: app, Apple App ID, environment, validation category; topics in request IDs.
struct KeyProfiles {
    struct Profile: Hashable {
        /// The number of an ``Interner``; 0 = none.
        let app: UInt32
        let appleAppID: UInt32
        let environment: Environment
        let category: UInt32?
    }

    private static let recentCount = 64
    private static let mostCategory: UInt32 = 255

    private var apps = Interner(mostTexts: Int(UInt16.max))
    private var appleAppIDs = Interner(mostTexts: Int(UInt16.max))
    /// Requests name what they like: an ID of one topic more than these lies beside the table.
    var topics = Interner(mostTexts: 1000)
    private var profiles: [Profile] = []
    /// The texts of each profile.
    private var names: [KeyNames] = []
    private var numbers: [Profile: UInt16] = [:]
    /// The numbers asked for lately, by some bits of the profile.
    private var recent = [UInt16](repeating: 0, count: recentCount)

    /// - Returns: nil when all numbers are in use, or for bytes that are not UTF-8.
    mutating func number(
        app: Span<UInt8>?,
        appleAppID: Span<UInt8>,
        _ environment: Environment,
        category: UInt32?
    ) -> UInt16? {
        // Devices name their category, where an app allows any: few of them get numbers.
        guard category ?? 0 <= Self.mostCategory, let apple = appleAppIDs.number(of: appleAppID) else { return nil }
        var number: UInt32 = 0
        if let app {
            guard let found = apps.number(of: app) else { return nil }
            number = found
        }
        return self.number(
            Profile(app: number, appleAppID: apple, environment: environment, category: category)
        )
    }

    private mutating func number(_ profile: Profile) -> UInt16? {
        let bits = profile.app &* 31 &+ profile.appleAppID &* 7 &+ (profile.category ?? 0)
        let place = Int(bits) % Self.recentCount
        let candidate = Int(recent[place])
        if candidate < profiles.count, profiles[candidate] == profile { return recent[place] }
        guard let number = numbers[profile] ?? add(profile) else { return nil }
        recent[place] = number
        return number
    }

    private mutating func add(_ profile: Profile) -> UInt16? {
        guard let number = UInt16(exactly: profiles.count) else { return nil }
        profiles.append(profile)
        names.append(KeyNames(app: apps.text(profile.app), appleAppID: appleAppIDs.text(profile.appleAppID) ?? ""))
        numbers[profile] = number
        return number
    }

    /// The number, if the record still has that profile, with the texts that it was read with.
    func number(of record: borrowing KeyRecord, like number: UInt16) -> UInt16? {
        let profile = self[number]
        let isSame = record.names === names(number) && record.environment == profile.environment
        return isSame && record.validationCategory == profile.category ? number : nil
    }

    subscript(number: UInt16) -> Profile { profiles[Int(number)] }

    func names(_ number: UInt16) -> KeyNames { names[Int(number)] }
}
