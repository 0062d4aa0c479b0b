internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Streams

/// The parts of traffic that refusals are looked for in.
enum Dimension: Int, CaseIterable {
    case verb, app, platform, osVersion, category, bundleVersion, environment, appID

    /// Values that are counted by their text. An App ID is presented as a hash, which few objects name.
    static let texts = allCases.filter { $0 != .appID }

    private static let names = [
        "verb", "app", "platform", "OS version", "validation category", "bundle version", "environment",
        "App ID presented",
    ]

    var name: String { Self.names[rawValue] }
}

/// The traits of its sender that a record states.
struct Sender {
    var installation: ExactText?
    var keyID: KeyID?
    var bringsAttestation = false
    var bringsObject = false
    var asksForChallenge = false
    /// SHA-256 of the App ID.
    var appID: Digest?
    /// The values of ``Dimension/texts``.
    var values = [ExactText?](repeating: nil, count: Dimension.texts.count)

    subscript(dimension: Dimension) -> ExactText? {
        get { values[dimension.rawValue] }
        set { values[dimension.rawValue] = newValue }
    }
}

/// The names of what is not text in a record, made once.
struct KnownNames {
    let apps: [ExactText]
    private let verbs = Dictionary(uniqueKeysWithValues: Verb.allCases.map { ($0, ExactText($0.rawValue)) })
    private let categories = (0..<16).map { ExactText(Self.name(ofCategory: $0)) }
    private let production = ExactText(Environment.production.rawValue)
    private let development = ExactText(Environment.development.rawValue)

    init(apps: [String]) { self.apps = apps.map { ExactText($0) } }

    func verb(_ verb: Verb) -> ExactText { verbs[verb] ?? "" }

    func environment(_ environment: Environment) -> ExactText { environment == .production ? production : development }

    func category(_ category: UInt32) -> ExactText {
        categories.indices.contains(Int(category))
            ? categories[Int(category)] : ExactText(Self.name(ofCategory: category))
    }

    /// The category with Apple's word for it.
    private static func name(ofCategory category: UInt32) -> String {
        let names: [UInt32: String] = [
            0: "invalid", 1: "operating system", 2: "TestFlight", 3: "development-signed", 4: "App Store",
            5: "enterprise or ad hoc", 6: "Developer ID", 10: "other signing identity",
        ]
        return names[category].map { "\(category) (\($0))" } ?? "\(category)"
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
        for dimension in Dimension.texts {
            let (table, text) = (dimension.rawValue, sender[dimension])
            var id = values[table].id(of: text)
            // An assertion does not say on what system it was made: what the device's attestation in this capture said
            // holds.
            let isKept = dimension == .platform || dimension == .osVersion
            if let device, text != nil { devices[device].values[table] = id }
            if let device, text == nil, isKept { id = devices[device].values[table] }
            values[table].count(id, outcome, isLoose: isLoose)
        }
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
}
