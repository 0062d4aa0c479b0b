internal import AppAttest
internal import AppCheck
internal import Crypto
package import DeviceLab
package import Pipeline
package import Streams
internal import TestKit

/// Requests of a few devices, made once for all seeds: signing is what costs.
package final class FleetTraffic: Sendable {
    /// Whether the signatures are real ones.
    package enum Signatures: Sendable { case imitated, real }

    struct Device: Sendable {
        let key: [UInt8]
        let attestations: [[UInt8]]
        let assertions: [[UInt8]]
        let junk: [[UInt8]?]
        /// `verifyReceipt`; none where no receipts are kept.
        let receipts: [[UInt8]]
        let keyID: KeyID
    }

    package static let replyPartitions: Int32 = 3
    /// The time between two offsets of a partition with commands: a command's code expires while others are applied.
    private static let commandStep = OperatorCommand.lifeMilliseconds / 6
    /// A key that is not used for so many offsets ends, where keys end.
    private static let offsetsToEnd: Int64 = 4

    package let ca: LabCA
    package let settings: PipelineSettings
    private let signatures: Signatures
    /// The share of requests that are for a token.
    private let tokens: Double
    let devices: [Device]
    private let verbs: [OperatorCommand.Action]

    /// - Parameters:
    ///   - keepsReceipts: whether the app keeps receipts: some of the requests are then Apple's answers, and most
    ///     commands forget a key.
    ///   - window: the app's window of counters.
    ///   - tokens: the share of requests that exchange a debug token, whose signature is a real one.
    ///   - ends: whether keys end that are not used for a while.
    package init(
        _ signatures: Signatures,
        keepsReceipts: Bool = false,
        window: Int = 0,
        tokens: Double = 0,
        ends: Bool = false
    ) throws {
        (self.signatures, self.tokens) = (signatures, tokens)
        verbs = keepsReceipts ? [.forget, .forget, .ban, .unban] : OperatorCommand.Action.allCases
        let signer: any LabSigner = signatures == .real ? ECDSASigner() : OracleSigner()
        let ca = LabCA(seed: 4, signer: signer)
        self.ca = ca
        var settings = PipelineSettings(registry: try Self.registry(keepsReceipts, window, tokens > 0))
        settings.hasReceipts = keepsReceipts
        settings.exchange.keys = KeyRings(sealing: try ExchangeKit.ring([1]))
        if tokens > 0 { settings.exchange.keys = try ExchangeKit.keys(tokens: [ExchangeKit.es256()]) }
        settings.replyPartitions = Self.replyPartitions
        if ends { settings.keys.expireAfterMilliseconds = Self.offsetsToEnd * Self.commandStep }
        self.settings = settings
        devices = (0..<5 as Range<UInt64>).map { number in
            let device = FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", seed: 700 + number)
            let chain = keepsReceipts ? ReceiptChain(of: device) : nil
            return Device(
                key: device.keyID.recordKey,
                attestations: chain?.attestations
                    ?? (1...2).map { RequestRecords.attestation(of: device, challenge: $0) },
                assertions: (1...8).map { RequestRecords.assertion(of: device, counter: $0) },
                junk: [
                    nil, Array("no JSON".utf8), Array("{\"path\":\"v1/projects/p/apps/a\",\"body\":{}}".utf8),
                    RequestRecords.assertion(of: device, counter: 3, fault: .signatureFlipped),
                ],
                receipts: chain?.answers ?? [],
                keyID: device.keyID
            )
        }
    }

    private static func registry(_ keepsReceipts: Bool, _ window: Int, _ takesTokens: Bool) throws -> Registry {
        var apps = try RequestRecords.registry().apps
        for index in apps.indices {
            apps[index].counterWindow = window
            if keepsReceipts { apps[index].risk.mode = .report }
            guard takesTokens else { continue }
            apps[index].debugTokens = [try ExchangeKit.debugToken()]
            apps[index].tokens.algorithm = .es256
        }
        return try Registry(apps: apps)
    }

    /// A lane's scratch for one thread; its caches may serve many runs.
    package func scratch() throws -> LaneScratch {
        LaneScratch(
            verifier: ObjectVerifier(anchors: try ca.anchors(), limits: settings.objectLimits),
            engine: signatures == .real ? OpenSSLEngine() : OracleEngine()
        )
    }

    /// About `count` requests over `partitions` partitions: attestations, assertions, the same again by the same or by
    /// another id, junk.
    ///
    /// - Parameter commands: the share of requests that are an operator's.
    package func records(
        _ count: Int,
        partitions: Int,
        seed: UInt64,
        commands: Double = 0
    ) throws -> [InboundRecord] {
        var random = SeededRandom(seed: seed)
        var offsets: [Int32: Int64] = [:]
        var sent: [InboundRecord] = []
        let step = commands > 0 || settings.keys.expire ? Self.commandStep : 0
        for index in 0..<count {
            let number = index < devices.count ? index : Int.random(in: 0..<devices.count, using: &random)
            let partition = Int32(number % partitions)
            let offset = offsets[partition, default: 0]
            // Offsets have gaps: markers of the producers' transactions.
            offsets[partition] = offset + 1 + Int64.random(in: 0...1, using: &random)
            if Double.random(in: 0..<1, using: &random) < 0.2,
                var again = sent.filter({ $0.partition == partition }).randomElement(using: &random)
            {
                again.offset = offset
                again.timestamp = RequestRecords.time + offset * step
                if Bool.random(using: &random) { again.headers = [RecordHeader("request-id", "again-\(index)")] }
                sent.append(again)
                continue
            }
            let time = RequestRecords.time + offset * step
            let isCommand =
                commands > 0 && index >= devices.count && Double.random(in: 0..<1, using: &random) < commands
            let value =
                isCommand
                ? try command(on: devices[number].keyID, seed: UInt8(truncatingIfNeeded: index), at: time, &random)
                : value(devices[number], isFirst: index < devices.count, &random)
            let isExchange = value == Self.exchange.value
            sent.append(
                RequestRecords.record(
                    value,
                    key: isExchange ? nil : devices[number].key,
                    partition: partition,
                    offset: offset,
                    id: isCommand ? "operator-\(index)" : "request-\(index)",
                    timestamp: time
                )
            )
        }
        // Every third sender waits for a reply, some of them where there is no partition.
        for index in sent.indices {
            sent[index].hasLogAppendTime = tokens > 0
            if index.isMultiple(of: 3) { sent[index].headers.append(RecordHeader("reply-to", "\(index % 5)")) }
        }
        return sent
    }

    private func command(
        on keyID: KeyID,
        seed: UInt8,
        at time: Int64,
        _ random: inout SeededRandom
    ) throws -> [UInt8] {
        let verb = verbs.randomElement(using: &random) ?? .ban
        var command = OperatorCommand.sample(verb, .key(keyID), at: time, seed: seed)
        if verb == .forget { command.keepsBan = Bool.random(using: &random) }
        // Some bans end, a few records later or behind the last one.
        if verb == .ban, !seed.isMultiple(of: 3) {
            command.until = EvaluationTime(milliseconds: time + Self.commandStep * (1 + Int64(seed % 7)))
        }
        return try ExchangeRequest.command(command, settings.exchange.keys).value
    }

    private static let exchange = ExchangeRequest.debug(ExchangeKit.debugSecret)

    private func value(_ device: Device, isFirst: Bool, _ random: inout SeededRandom) -> [UInt8]? {
        if !isFirst, tokens > 0, random.chance(tokens) { return Self.exchange.value }
        if !isFirst, !device.receipts.isEmpty, random.chance(0.5) {
            return device.receipts.randomElement(using: &random)
        }
        let dice = Double.random(in: 0..<1, using: &random)
        if isFirst || dice < 0.12 { return device.attestations.randomElement(using: &random) ?? nil }
        if dice < 0.22 { return device.junk.randomElement(using: &random) ?? nil }
        return device.assertions.randomElement(using: &random) ?? nil
    }
}
