internal import AppAttest
internal import Crypto
internal import Streams

/// The parts of traffic that refusals are looked for in.
enum Dimension: Int, CaseIterable {
    case verb, app, platform, osVersion, category, bundleVersion, environment, appID

    /// Values that are counted by their text. An App ID is presented as a hash, which few objects name.
    static let texts = allCases.filter { $0 != .appID }

    var name: String {
        switch self {
        case .verb: "verb"
        case .app: "app"
        case .platform: "platform"
        case .osVersion: "OS version"
        case .category: "validation category"
        case .bundleVersion: "bundle version"
        case .environment: "environment"
        case .appID: "App ID presented"
        }
    }
}

/// The traits of its sender that a record states.
struct Sender {
    var installation: ExactText?
    var keyID: KeyID?
    var bringsAttestation = false
    var bringsObject = false
    var asksForChallenge = false
    var verb: ExactText?
    var app: ExactText?
    var platform: ExactText?
    var osVersion: ExactText?
    var category: ExactText?
    var bundleVersion: ExactText?
    var environment: ExactText?
    /// SHA-256 of the App ID.
    var appID: Digest?

    fileprivate subscript(dimension: Dimension) -> ExactText? {
        switch dimension {
        case .verb: verb
        case .app: app
        case .platform: platform
        case .osVersion: osVersion
        case .category: category
        case .bundleVersion: bundleVersion
        case .environment: environment
        case .appID: nil
        }
    }
}

/// The devices of a capture with the values that they have, in memory that is bounded whatever the capture has.
struct Population {
    private(set) var devices = DeviceTable()
    private(set) var marks = RefusalTimeline()
    /// The tables of ``Dimension/texts``.
    private(set) var values: [ValueTable<ExactText>]
    private(set) var appIDs: ValueTable<Digest>
    /// The devices that met each outcome.
    private(set) var met: [Int]

    init(outcomes: Int) {
        values = Dimension.texts.map { _ in ValueTable(outcomes: outcomes) }
        appIDs = ValueTable(outcomes: outcomes)
        met = [Int](repeating: 0, count: outcomes)
    }

    func tallies(_ dimension: Dimension) -> [ValueTally] {
        dimension == .appID ? appIDs.tallies : values[dimension.rawValue].tallies
    }

    /// The key that distinguishes a value; empty for the rest and for its members.
    func bytes(_ dimension: Dimension, _ id: Int) -> [UInt8] {
        dimension == .appID
            ? appIDs.keys[id].map { $0.bytes } ?? [] : values[dimension.rawValue].keys[id]?.utf8 ?? []
    }

    /// - Parameter time: milliseconds since 1970; nil for a record without a time.
    mutating func note(_ sender: Sender, _ outcome: OutcomeList.Index, at place: RecordPlace, _ time: Int64?) {
        let isRefused = outcome != OutcomeList.accepted
        // A device is who presents an object, or is refused: an accepted challenge says nothing about it yet.
        let device =
            sender.bringsObject || isRefused
            ? devices.place(installation: sender.installation, keyID: sender.keyID) : nil
        if let device { note(device, outcome, place) }
        let isLoose = device == nil && (isRefused || !sender.asksForChallenge)
        if let time, device != nil || isLoose {
            marks.add(device ?? RefusalTimeline.nobody, time, outcome, isAttestation: sender.bringsAttestation)
        }
        for dimension in Dimension.texts { count(sender[dimension], dimension, outcome, device, isLoose) }
        let appID = appIDs.id(of: sender.appID)
        appIDs.count(appID, outcome, isLoose: isLoose)
        if let device, sender.appID != nil { devices[device].values[Dimension.appID.rawValue] = appID }
    }

    private mutating func note(_ device: Int, _ outcome: OutcomeList.Index, _ place: RecordPlace) {
        devices[device].records += 1
        if devices[device].reasons.insert(outcome) { met[Int(outcome)] += 1 }
        if outcome == OutcomeList.accepted {
            devices[device].accepted += 1
        } else {
            devices[device].refused += 1
            devices[device].lastRefused = (place.partition, place.offset)
        }
    }

    private mutating func count(
        _ text: ExactText?,
        _ dimension: Dimension,
        _ outcome: OutcomeList.Index,
        _ device: Int?,
        _ isLoose: Bool
    ) {
        let table = dimension.rawValue
        var id = values[table].id(of: text)
        if let device {
            // An assertion does not say on what system it was made: what the device's attestation in this capture said
            // holds.
            let isKept = dimension == .platform || dimension == .osVersion
            if text != nil { devices[device].values[table] = id } else if isKept { id = devices[device].values[table] }
        }
        values[table].count(id, outcome, isLoose: isLoose)
    }
}
