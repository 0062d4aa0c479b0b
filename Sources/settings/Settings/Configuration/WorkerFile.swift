internal import AppCheck
internal import JSON
internal import Pipeline
internal import Streams

enum WorkerFile {
    private static let name = "worker.json"

    /// The settings in the order of the Configuration page.
    static let settings = topics + delivery + batches + KeyLists.settings + anchors + limits + gateway + risk

    static func read(_ files: ConfigurationFiles) throws(ConfigurationFault) -> Configuration {
        var configuration = Configuration()
        let root = try files.root(of: name)
        try root.read(settings, into: &configuration)
        let topics = configuration.topics.all
        guard Set(topics).count == topics.count
        else { throw root.fault("two topics have the same name; give each its own", at: "topics") }
        guard !configuration.anchors.attestation.isEmpty else {
            let problem = "is required: list the attestation roots' PEM files under attestation"
            throw root.fault(problem, at: "anchors")
        }
        try SwappedAnchors.check(configuration.anchors)
        return configuration
    }

    private static let sizes = 1...(16 << 20)

    private static let topics: [Setting<Configuration>] = [
        Setting("topics.requests", \.topics.requests, .topic).means("Topic that the worker consumes."),
        Setting("topics.results", \.topics[.results], .topic).means("Topic of results."),
        Setting("topics.tokens", \.topics[.tokens], .topic).means("Topic of tokens, artifacts and challenges."),
        Setting("topics.events", \.topics[.events], .topic).means("Topic of events."),
        Setting("topics.deadLetters", \.topics[.deadLetters], .topic).means("Topic of records that are not requests."),
        Setting("topics.ledger", \.topics[.ledger], .topic).means("Compacted topic with the state."),
        Setting("topics.replies", \.topics.replies, .optional(.topic, absent: "none"))
            .means(
                "Topic of answers to gateways that ask for them with `reply-to`: see "
                    + "[Records, Replies](Records.md#replies)."
            ),
        Setting("topics.receipts", \.topics.receipts, .optional(.topic, absent: "none"))
            .means(
                "Compacted topic of each key's last receipt, which an app's `risk.mode` needs: see "
                    + "[Records, Receipts](Records.md#receipts)."
            ),
    ]

    private static let delivery: [Setting<Configuration>] = [
        Setting("partitioner", \.partitioner, .choice).means(
            "How producers choose the partition of a record key. `murmur2`: Java clients and librdkafka's "
                + "`murmur2_random`. `crc32`: librdkafka's and kcat's default. `unchecked`: the partition is not "
                + "compared; then no artifact restores a key, and `import-keys` refuses."
        ),
        Setting("delivery", \.delivery, .choice).means("See [ExactlyOnce](ExactlyOnce.md)."),
        Setting("membership", \.membership, .choice).means(
            "`static`: a restart within `session.timeout.ms` moves no partition. `dynamic`: partitions move as soon as "
                + "a worker leaves."
        ),
        Setting("embeddedBroker", \.embeddedBroker, .boolean).means(
            "Use librdkafka's mock cluster inside the process, with 4 partitions a topic, instead of a broker. For "
                + "trials: it has no transactions."
        ),
    ]

    private static let batches: [Setting<Configuration>] = [
        Setting("batch.records", \.batch.records, .integer(1...1_000_000)).means("Records of one batch at most."),
        Setting("batch.bytes", \.batch.bytes, .integer(1...(1 << 30))).means("Bytes of one batch at most."),
        Setting("batch.milliseconds", \.batch.milliseconds, .integer(1...60_000))
            .means("How long an idle poll waits. A batch takes the records that are there and waits for no others."),
        Setting("lanes", \.lanes, .integer(0...1024))
            .means("Lanes that verify in parallel. 0 is one for each processor that affinity and cgroups allow."),
        Setting("engine.use", \.engine.use, .choice).means(
            "What verifies signatures; all give the same answers. `auto`: the fastest that the machine can run. `ifma`: AVX-512 "
                + "lanes, eight signatures at once. `portable`: the same for any processor, in step. `openssl`: OpenSSL alone."
        ),
        Setting("engine.crossCheck", \.engine.crossCheck, .integer(0...1_000_000)).means(
            "One answer in so many, accepted or refused, is compared with OpenSSL's. If one differs, OpenSSL judges its "
                + "batch again, and everything from then on, and the worker raises an alarm. 0 is never."
        ),
        Setting("engine.pointBytes", \.engine.pointBytes, .integer(0...(1 << 34))).means(
            "Bytes for multiples of the public keys in use, which all lanes share; the least recently used go. A key without "
                + "them costs more than twice as much: see [Sizing, Keys in use](Sizing.md#keys-in-use)."
        ),
        Setting("engine.signingLibrary", \.engine.signingLibrary, .absolutePath).means(
            "Absolute path of Intel's libcrypto_mb, which signs tokens eight at once; each signature is verified before it "
                + "leaves. It is never searched for: see [Keys, A library for signing](Keys.md#a-library-for-signing). "
                + "Empty: OpenSSL signs alone."
        ),
        Setting("engine.hsmTimeout", \.engine.hsmTimeoutMilliseconds, .duration(100...10_000)).means(
            "How long a key inside a token may take for a signature. One that takes longer counts as away: see "
                + "[Keys elsewhere](KeysElsewhere.md#when-the-token-is-away)."
        ),
        Setting("loops", \.loops, .integer(0...64)).means(
            "Consumers, producers and loops in one process; all share the lanes. 0 is one per eight active cores, and at "
                + "least one: see [Deployment, Loops](Deployment.md#loops)."
        ),
        Setting("state.snapshots", \.state.snapshots, .boolean).means(
            "Keep copies of the ledgers in the state folder, from which a restart goes on: see "
                + "[Sizing, Restart](Sizing.md#restart)."
        ),
        Setting("state.bytesPerSecond", \.state.bytesPerSecond, .integer(1_048_576...4_294_967_296))
            .means("Bytes a second that copies are written with."),
        Setting("state.standby", \.state.standby, .boolean).means(
            "Follow the ledgers of the partitions that become this worker's if another one is gone; needs static membership: "
                + "see [Sizing, Standby](Sizing.md#standby)."
        ),
        Setting("metrics.port", \.metricsPort, .integer(0...65_535))
            .means("Port of metrics and health: see [Metrics](Metrics.md). 0 serves nothing."),
        Setting("metrics.address", \.metricsAddress, .address).means(
            "IP address in digits that the port listens on. `0.0.0.0` or `::` is every one: nothing there asks for a password."
        ),
        Setting("log.format", \.log.format, .choice).means(
            "Lines of text, or a JSON object a line, on standard error: see "
                + "[Logs, What the worker logs](Logs.md#what-the-worker-logs)."
        ),
        Setting("log.level", \.log.level, .choice).means("The least grave events that are logged."),
    ]

    private static let anchors: [Setting<Configuration>] = [
        Setting(
            "anchors.attestation",
            \.anchors.attestation,
            .anchors(atLeast: 1),
            standard: "required",
            range: "at least one"
        )
        .means("Roots of attestation leaves. An intermediate may be listed: then it is trusted as it is."),
        Setting("anchors.receipt", \.anchors.receipt, .anchors(atLeast: 0))
            .means("Roots of receipt signers. Without any every receipt is `receipt:chain`."),
    ]

    private static let limits: [Setting<Configuration>] = [
        Setting(
            "keys.expireAfter",
            \.keys.expireAfterMilliseconds,
            .duration(2_592_000_000...315_360_000_000, orNever: true),
            reloads: true
        ).means(
            "How long after its last use the ledger forgets a key: see [Keys that end](KeysThatEnd.md). `0s` is never."
        ),
        Setting("clock.maxAge", \.clock.maxAgeMilliseconds, .duration(1...315_360_000_000))
            .means("Older records are `too-old`."),
        Setting("clock.maxAhead", \.clock.maxAheadMilliseconds, .duration(0...86_400_000))
            .means("Records further ahead are `from-future`."),
        Setting("limits.valueBytes", \.limits.valueBytes, .integer(sizes))
            .means("Bytes of a request's value. More is the dead letter `too-large`."),
        Setting("limits.headerBytes", \.limits.headerBytes, .integer(sizes))
            .means("Bytes of all header names and values. More is the dead letter `bad-headers`."),
        Setting("limits.clientDataBytes", \.limits.clientDataBytes, .integer(sizes))
            .means("Bytes of the decoded `clientData`."),
        Setting("limits.clientDataHashBytes", \.limits.clientDataHashBytes, .integer(1...65_536))
            .means("Bytes of the decoded `clientDataHash`, whatever the app says."),
        Setting("limits.requestIdBytes", \.limits.requestIDBytes, .integer(1...65_536))
            .means("Bytes of the header `request-id`."),
        Setting("limits.sessionTokens", \.limits.sessionTokens, .integer(0...100_000_000)).means(
            "Used tokens that a partition may remember before it refuses further session tokens. About 200 bytes each."
        ),
    ]
}

extension SettingKind<String> {
    /// A name by Kafka's own rule.
    fileprivate static var topic: Self {
        .string(
            range: "a topic name",
            schema: JSONSchema.string(pattern: "^(?!\\.{1,2}$)[A-Za-z0-9._-]{1,249}$"),
            problem: "must be a topic name: 1 to 249 letters, digits, dots, underscores or hyphens"
        ) { $0.isTopicName }
    }

    /// An IPv4 or IPv6 address in digits.
    static var address: Self {
        .string(
            range: "an IP address",
            schema: JSONSchema.string(pattern: "^([0-9]{1,3}(\\.[0-9]{1,3}){3}|[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*)$"),
            problem: "must be an IP address in digits, such as 127.0.0.1"
        ) { NetworkPrefix.address($0) != nil }
    }

    /// A path that means one file, wherever the worker starts.
    fileprivate static var absolutePath: Self {
        .string(
            range: "an absolute path, or empty",
            schema: JSONSchema.string(pattern: "^(/|$)"),
            problem: "must be an absolute path, or empty"
        ) { $0.isEmpty || $0.hasPrefix("/") }
    }
}

extension SettingKind<[AnchorSettings.File]> {
    /// Certificates' files, read at once.
    fileprivate static func anchors(atLeast least: Int) -> Self {
        let schema = JSONSchema.list(of: JSONSchema.string, atLeast: least)
        return SettingKind(type: "list of paths", schema: schema, text: { _ in "`[]`" }) {
            value throws(ConfigurationFault) in
            try value.list("strings") { value throws(ConfigurationFault) in
                guard let path = value.node?.string else { throw value.fault("must be a string", shown: true) }
                let pem = try value.files.read(path, remedy: "it is an anchor in worker.json; put the PEM file there")
                return AnchorSettings.File(path: value.files.resolve(path), pem: pem)
            }
        }
    }
}
