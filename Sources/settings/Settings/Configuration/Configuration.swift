package import AppCheck
package import Pipeline
package import Streams

/// A config directory, read and validated: worker.json, apps.json, kafka.properties and the anchors that they name.
///
/// Key files are named here, not read: a replay needs none of them.
package struct Configuration: Sendable {
    package var registry = Registry()
    package var topics = TopicNames.standard
    package var partitioner = PartitionerSetting.murmur2
    package var delivery = Delivery.exactlyOnce
    package var membership = GroupMembership.static
    package var signingKeys: [SigningKeyEntry] = []
    package var sealingKeys: [KeyEntry] = []
    package var challenges = ChallengeSettings()
    package var challengeKeys: [KeyEntry] = []
    package var anchors = AnchorSettings()
    package var keys = KeySettings()
    package var state = StateSettings()
    package var clock = ClockSettings()
    package var limits = RequestLimits()
    package var batch = BatchLimits()
    /// 0 = one per core.
    package var lanes = 0
    package var engine = EngineSettings()
    /// 0 = by the cores.
    package var loops = 0
    /// 0 = no metrics.
    package var metricsPort = 0
    /// The address in digits.
    package var metricsAddress = "127.0.0.1"
    package var log = LogSettings()
    package var gateway = GatewaySettings()
    package var risk = RiskSettings()
    package var embeddedBroker = false
    /// Empty lists in apps.json, which accept nothing, by their places.
    package var emptyLists: [String] = []
    /// The properties in the file's order; handed to librdkafka unchanged.
    package var kafkaProperties: [(name: String, value: String)] = []
    /// Why one of them could not be filled in; nil = all are.
    package var kafkaPropertyFault: ConfigurationFault?
    /// A line for each property whose writer may have meant another value.
    package var kafkaPropertyDoubts: [String] = []

    /// The defaults, without apps.
    package init() {}

    /// The lines of the Configuration page, in order.
    package static var rows: [String] {
        WorkerFile.settings.rows(Configuration()) + AppsFile.settings.rows(AppsFile(unknownKeys: .restore))
    }

    /// The JSON Schemas of the three files; that of kafka.properties describes it as an object of strings.
    package static var schemas: [(file: String, schema: JSONTree)] {
        [
            ("worker.json", WorkerFile.settings.schema(Configuration())),
            ("apps.json", AppsFile.settings.schema(AppsFile(unknownKeys: .restore))),
            ("kafka.properties", KafkaPropertiesFile.schema),
        ]
    }

    /// - Throws: ``ConfigurationFault`` for all that is wrong in the three files.
    package static func load(directory: String) throws(ConfigurationFault) -> Configuration {
        try load(ConfigurationFiles(directory: directory))
    }

    /// - Parameter mode: the challenge mode for apps' defaults; nil = worker.json's own.
    package static func load(
        _ files: ConfigurationFiles,
        mode: ChallengeSettings.Mode? = nil
    ) throws(ConfigurationFault) -> Configuration {
        var faults = FaultList()
        let worker = faults.attempt { () throws(ConfigurationFault) in try WorkerFile.read(files) }
        // Without the directory one line says it all.
        if worker == nil, !Folder.exists(files.directory) { try faults.check() }
        var configuration = worker ?? Configuration()
        let mode = mode ?? configuration.challenges.mode
        faults.attempt { () throws(ConfigurationFault) in
            configuration.registry = try AppsFile.read(files, unknownKeys: mode == .sealed ? .restore : .refuse)
            configuration.emptyLists = try EmptyLists.places(in: files)
            if let worker {
                try worker.checkStandby()
                try configuration.registry.checkHashLengths(upTo: worker.limits.clientDataHashBytes)
                try configuration.registry.checkReceipts(topic: worker.topics.receipts)
            }
        }
        faults.attempt { () throws(ConfigurationFault) in
            try KafkaPropertiesFile.read(files, into: &configuration)
        }
        try faults.check()
        return configuration
    }
}

extension Configuration {
    /// - Throws: where the worker has no lasting place among the members, which says what it would follow.
    fileprivate func checkStandby() throws(ConfigurationFault) {
        guard state.standby, membership == .dynamic else { return }
        throw ConfigurationFault(
            "worker.json: state.standby is true and membership is dynamic: only static members have a lasting place in the "
                + "group; set membership to static, or state.standby to false."
        )
    }
}

/// The state that a worker keeps, besides what it serves.
package struct StateSettings: Sendable, Equatable {
    package var snapshots = false
    package var bytesPerSecond = 32 << 20
    /// Whether the ledgers are followed that would be this worker's if another one were gone.
    package var standby = false
}

/// How the requests' producers map a record's key to its partition.
package enum PartitionerSetting: String, Sendable, CaseIterable {
    case murmur2, crc32, unchecked
}

/// How a worker is a member of its group.
package enum GroupMembership: String, Sendable, CaseIterable {
    /// Known by the instance's name: a restart within `session.timeout.ms` moves no partition.
    case `static`
    case dynamic
}

/// The roots, as read from their files.
package struct AnchorSettings: Sendable, Equatable {
    package struct File: Sendable, Equatable {
        package var path: String
        package var pem: [UInt8]
    }

    package var attestation: [File] = []
    package var receipt: [File] = []
}

/// How outputs and offsets are committed.
package enum Delivery: String, Sendable, CaseIterable {
    case exactlyOnce = "exactly-once"
    case atLeastOnce = "at-least-once"
}

/// How signatures are verified, and tokens signed.
package struct EngineSettings: Sendable, Equatable {
    package var use = EngineUse.auto
    /// One answer in so many is compared with OpenSSL's; 0 = none.
    package var crossCheck = 1000
    /// Bytes for multiples of public keys in use.
    package var pointBytes = 256 << 20
    /// Absolute path of libcrypto_mb; empty = OpenSSL signs alone.
    package var signingLibrary = ""
    /// How long a key inside a token may take for a signature.
    package var hsmTimeoutMilliseconds: Int64 = 5000
}

/// The engine that verifies signatures. All give the same answers.
package enum EngineUse: String, Sendable, CaseIterable {
    /// The fastest that this machine can run.
    case auto
    case openSSL = "openssl"
    /// Our own arithmetic, the signatures of a group in step.
    case portable
    /// The same in AVX-512 lanes, eight signatures at once.
    case ifma
}

package struct LogSettings: Sendable, Equatable {
    package var format = LogFormat.text
    package var level = LogLevel.info

    package init() {}
}

/// The form of a line on standard error.
package enum LogFormat: String, Sendable, CaseIterable {
    case text, json
}

/// The gravity of an event, and the least one at which events are logged.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case debug, info, warning, error

    /// The level's number in syslog and journald.
    package var severity: Int {
        switch self {
        case .debug: 7
        case .info: 6
        case .warning: 4
        case .error: 3
        }
    }

    package static func < (one: LogLevel, other: LogLevel) -> Bool { one.severity > other.severity }
}
