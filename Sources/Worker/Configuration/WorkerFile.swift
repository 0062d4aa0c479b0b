internal import AppCheck
internal import Broker
internal import Pipeline

/// worker.json.
struct WorkerFile {
    private static let name = "worker.json"
    private static let keys: [StaticString] = [
        "topics", "partitioner", "delivery", "membership", "signingKeys", "sealingKeys", "challenges", "anchors",
        "clock", "limits", "batch", "lanes", "engine", "metrics", "embeddedBroker",
    ]

    private let topics: TopicNames
    private let partitioner: PartitionerSetting
    private let delivery: Delivery
    private let membership: GroupMembership
    private let signingKeys: [SigningKeyEntry]
    private let sealingKeys: [KeyEntry]
    let challenges: ChallengeSettings
    let anchors: AnchorSettings
    private let clock: ClockSettings
    private let limits: RequestLimits
    private let batch: BatchLimits
    private let lanes: Int
    private let metricsPort: Int
    private let embeddedBroker: Bool

    static func read(_ files: ConfigurationFiles) throws(ConfigurationFault) -> WorkerFile {
        try WorkerFile(files.object(name, keys: keys), files)
    }

    private init(_ root: ConfigurationObject, _ files: ConfigurationFiles) throws(ConfigurationFault) {
        topics = try Self.topics(root)
        partitioner = try root.choice("partitioner", default: .murmur2)
        delivery = try root.choice("delivery", default: .exactlyOnce)
        membership = try root.named("membership", Self.membership, "static, dynamic") ?? .static
        signingKeys = try KeyLists.signingKeys(root, files)
        sealingKeys = try KeyLists.keys("sealingKeys", of: root, files)
        challenges = try Self.challenges(root, files)
        anchors = try Self.anchors(root, files)
        clock = try Self.clock(root)
        limits = try Self.limits(root)
        batch = try Self.batch(root)
        lanes = try root.integer("lanes", in: 0...1024, default: 0)
        // The engine has no settings yet.
        _ = try root.object("engine", keys: [])
        metricsPort = try root.object("metrics", keys: ["port"])?.integer("port", in: 0...65_535, default: 0) ?? 0
        embeddedBroker = try root.bool("embeddedBroker", default: false)
    }

    func apply(to configuration: inout Configuration) {
        configuration.topics = topics
        configuration.partitioner = partitioner
        configuration.delivery = delivery
        configuration.membership = membership
        configuration.signingKeys = signingKeys
        configuration.sealingKeys = sealingKeys
        configuration.challenges = challenges
        configuration.clock = clock
        configuration.limits = limits
        configuration.batch = batch
        configuration.lanes = lanes
        configuration.metricsPort = metricsPort
        configuration.embeddedBroker = embeddedBroker
    }

    private static func membership(_ name: String) -> GroupMembership? {
        switch name {
        case "static": .static
        case "dynamic": .dynamic
        default: nil
        }
    }

    private static func topics(_ root: ConfigurationObject) throws(ConfigurationFault) -> TopicNames {
        var topics = TopicNames.standard
        let outputs: [(StaticString, OutputTopic)] = [
            ("results", .results), ("tokens", .tokens), ("events", .events), ("deadLetters", .deadLetters),
            ("ledger", .ledger),
        ]
        guard let object = try root.object("topics", keys: ["requests"] + outputs.map(\.0)) else { return topics }
        topics.requests = try topic("requests", of: object) ?? topics.requests
        for (key, stream) in outputs {
            if let name = try topic(key, of: object) { topics.outputs[stream] = name }
        }
        guard Set(topics.all).count == topics.all.count
        else { throw root.fault("topics", "two topics have the same name; give each its own") }
        return topics
    }

    private static func topic(_ key: StaticString, of object: ConfigurationObject) throws(ConfigurationFault) -> String?
    {
        guard let name = try object.string(key) else { return nil }
        guard isTopicName(name) else {
            throw object.fault(key, "must be a topic name: 1 to 249 letters, digits, dots, underscores or hyphens")
        }
        return name
    }

    /// Kafka's own rule for a name.
    private static func isTopicName(_ name: String) -> Bool {
        (1...249).contains(name.utf8.count) && name != "." && name != ".."
            && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
    }

    private static func challenges(
        _ root: ConfigurationObject,
        _ files: ConfigurationFiles
    )
        throws(ConfigurationFault) -> ChallengeSettings
    {
        var challenges = ChallengeSettings()
        guard let object = try root.object("challenges", keys: ["mode", "ttl", "keys"]) else { return challenges }
        challenges.mode = try object.choice("mode", default: .sealed)
        challenges.ttlMilliseconds = try object.duration(
            "ttl",
            in: 1000...86_400_000,
            default: challenges.ttlMilliseconds,
            allowed: "from 1s to 1d"
        )
        challenges.keys = try KeyLists.keys("keys", of: object, files)
        return challenges
    }

    private static func anchors(
        _ root: ConfigurationObject,
        _ files: ConfigurationFiles
    )
        throws(ConfigurationFault) -> AnchorSettings
    {
        guard let object = try root.object("anchors", keys: ["attestation", "receipt"]),
            let attestation = try object.strings("attestation"), !attestation.isEmpty
        else { throw root.fault("anchors", "is required: list the attestation roots' PEM files under attestation") }
        func read(_ paths: [String]) throws(ConfigurationFault) -> [AnchorSettings.File] {
            var anchors: [AnchorSettings.File] = []
            for path in paths {
                let pem = try files.read(path, remedy: "it is an anchor in \(name); put the PEM file there")
                anchors.append(AnchorSettings.File(path: files.resolve(path), pem: pem))
            }
            return anchors
        }
        return AnchorSettings(
            attestation: try read(attestation),
            receipt: try read(try object.strings("receipt") ?? [])
        )
    }

    private static func clock(_ root: ConfigurationObject) throws(ConfigurationFault) -> ClockSettings {
        var clock = ClockSettings()
        guard let object = try root.object("clock", keys: ["maxAge", "maxAhead"]) else { return clock }
        clock.maxAgeMilliseconds = try object.duration(
            "maxAge",
            in: 1...315_360_000_000,
            default: clock.maxAgeMilliseconds,
            allowed: "up to 3650d"
        )
        clock.maxAheadMilliseconds = try object.duration(
            "maxAhead",
            in: 0...86_400_000,
            default: clock.maxAheadMilliseconds,
            allowed: "up to 1d"
        )
        return clock
    }

    private static func limits(_ root: ConfigurationObject) throws(ConfigurationFault) -> RequestLimits {
        var limits = RequestLimits()
        let keys: [StaticString] = [
            "valueBytes", "headerBytes", "clientDataBytes", "clientDataHashBytes", "requestIdBytes", "sessionTokens",
        ]
        guard let object = try root.object("limits", keys: keys) else { return limits }
        let sizes = 1...(16 << 20)
        limits.valueBytes = try object.integer("valueBytes", in: sizes, default: limits.valueBytes)
        limits.headerBytes = try object.integer("headerBytes", in: sizes, default: limits.headerBytes)
        limits.clientDataBytes = try object.integer("clientDataBytes", in: sizes, default: limits.clientDataBytes)
        limits.clientDataHashBytes = try object.integer(
            "clientDataHashBytes",
            in: 1...65_536,
            default: limits.clientDataHashBytes
        )
        limits.sessionTokens = try object.integer("sessionTokens", in: 0...100_000_000, default: limits.sessionTokens)
        limits.requestIDBytes = try object.integer("requestIdBytes", in: 1...65_536, default: limits.requestIDBytes)
        return limits
    }

    private static func batch(_ root: ConfigurationObject) throws(ConfigurationFault) -> BatchLimits {
        var batch = BatchLimits()
        guard let object = try root.object("batch", keys: ["records", "bytes", "milliseconds"]) else { return batch }
        batch.records = try object.integer("records", in: 1...1_000_000, default: batch.records)
        batch.bytes = try object.integer("bytes", in: 1...(1 << 30), default: batch.bytes)
        batch.milliseconds = try object.integer("milliseconds", in: 1...60_000, default: batch.milliseconds)
        return batch
    }
}
