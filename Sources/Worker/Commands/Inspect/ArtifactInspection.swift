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
        self.artifact = artifact
        self.configuration = configuration
        self.keyID = keyID
        guard let configuration else {
            sealing = nil
            return
        }
        sealing = try ExchangeKeys.sealing(configuration)
    }

    var view: InspectionView {
        let opened = try? sealing?.open(artifact).get()
        return InspectionView(kind: "artifact", fields: fields(opened), checks: checks(opened))
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

    /// The checks in the order in which a worker makes them.
    private func checks(_ opened: Artifact?) -> [InspectionView.Check] {
        var checks: [InspectionView.Check] = []
        var hasFailed = false
        func add(_ name: String, needs option: String?, _ isMet: Bool, else reason: Reason) {
            let outcome: InspectionView.Outcome
            if hasFailed {
                outcome = .notReached
            } else if let option {
                outcome = .notChecked(.needs(option))
            } else {
                outcome = isMet ? .passed : .failed(reason.code)
                hasFailed = !isMet
            }
            checks.append(InspectionView.Check(name: name, outcome: outcome))
        }
        let config = configuration == nil ? "--config" : nil
        let app = opened.flatMap { opened in configuration?.registry.apps.first { $0.name == opened.app } }
        let keyOption = keyID == nil ? "--key-id or --public-key" : nil
        add("key", needs: keyOption, Artifact.keyID(of: artifact) == keyID, else: .keyMismatch)
        let sealingKey = Artifact.sealingKeyID(of: artifact).flatMap { sealing?[$0] }
        let withoutKey: Reason = sealing?.active == nil ? .noActiveKey : .sealingKeyUnknown
        add("sealing key", needs: config, sealingKey != nil, else: withoutKey)
        add("seal", needs: config, opened != nil, else: .artifactInvalid)
        add("app", needs: config, app != nil, else: .unknownApp)
        let isServed = opened.map { app?.expectations.environments.contains($0.environment) == true }
        add("environment", needs: config, isServed == true, else: .artifactInvalid)
        return checks
    }
}
