internal import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON
internal import Settings

/// An artifact explained: its clear part, the content that a configuration's keys unseal, and the checks by which a
/// worker of that configuration accepts it with an assertion.
struct ArtifactInspection {
    private let artifact: [UInt8]
    private let configuration: Configuration?
    private let sealing: SealingKeyRing?
    private let keyID: KeyID?

    /// - Parameters:
    ///   - artifact: of an artifact's shape.
    ///   - keyID: the key ID that it must have.
    init(artifact: [UInt8], configuration: Configuration?, keyID: KeyID?) throws(ConfigurationFault) {
        (self.artifact, self.configuration, self.keyID) = (artifact, configuration, keyID)
        sealing = if let configuration { try ExchangeKeys.sealing(configuration) } else { nil }
    }

    var view: InspectionView {
        let opened = try? sealing?.open(artifact).get()
        let needs = needs
        let checks = checks(opened, needs)
        return InspectionView(
            kind: "artifact",
            fields: fields(opened),
            checks: checks,
            gaps: needs.mapValues { .needs($0) }
        )
    }

    private func fields(_ opened: Artifact?) -> [ReportField] {
        var fields = [ReportField(name: "size", value: .number(Int64(artifact.count)))]
        func add(_ name: String, _ value: ReportValue?) {
            if let value { fields.append(ReportField(name: name, value: value)) }
        }
        add("version", artifact.first.map { .number(Int64($0)) })
        let clear = Artifact.keyID(of: artifact)
        add("keyId", clear.map { .base64($0.bytes) })
        add("recordKey", clear.map { .text(String(decoding: Base64.encode($0.bytes), as: UTF8.self)) })
        let sealingKey = Artifact.sealingKeyID(of: artifact)
        add("sealingKeyId", sealingKey.map { .bytes($0.bytes) })
        let entry = configuration?.sealingKeys.first { SealingKeyID(of: $0.id) == sealingKey }
        add("sealingKey", entry.map { .text($0.id) })
        add("publicKey", opened.map { .base64($0.publicKey.x963) })
        add("app", opened.map { .text($0.app) })
        add("appleAppId", opened.map { .text($0.appleAppID) })
        add("environment", opened.map { .text($0.environment.rawValue) })
        add("registeredAt", opened.map { .time($0.registeredAt) })
        return fields
    }

    /// The option that a check needs, by the check's name.
    private var needs: [String: String] {
        var needs: [String: String] = [:]
        if keyID == nil { needs["key"] = "--key-id or --public-key" }
        guard configuration == nil else { return needs }
        for check in ["sealing key", "seal", "app", "environment"] { needs[check] = "--config" }
        return needs
    }

    /// The checks in the order in which a worker makes them.
    private func checks(_ opened: Artifact?, _ needs: [String: String]) -> [TracedCheck] {
        var checks: [TracedCheck] = []
        func add(_ name: String, _ isMet: Bool, else reason: Reason) {
            let isJudged = needs[name] == nil
            let outcome: TracedCheck.Outcome = isJudged ? isMet ? .passed : .failed(reason.code) : .notJudged(nil)
            checks.append(TracedCheck(name, checks.firstFailure == nil ? outcome : .notReached))
        }
        let app = opened.flatMap { opened in configuration?.registry.apps.first { $0.name == opened.app } }
        add("key", Artifact.keyID(of: artifact) == keyID, else: .keyMismatch)
        let sealingKey = Artifact.sealingKeyID(of: artifact).flatMap { sealing?[$0] }
        add("sealing key", sealingKey != nil, else: sealing?.active == nil ? .noActiveKey : .sealingKeyUnknown)
        add("seal", opened != nil, else: .artifactInvalid)
        add("app", app != nil, else: .unknownApp)
        let isServed = opened.map { app?.expectations.environments.contains($0.environment) == true }
        add("environment", isServed == true, else: .artifactInvalid)
        return checks
    }
}
