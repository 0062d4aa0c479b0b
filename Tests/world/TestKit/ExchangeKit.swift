internal import AppAttest
package import AppCheck
package import Crypto
package import DeviceLab
package import Pipeline

/// Keys, apps and settings that the tests of the exchange share; names are those of firebase-contract.json.
package enum ExchangeKit {
    package static let ca = LabCA(seed: 1)
    package static let appleAppID = "ABCDE12345.com.example.app"
    package static let projectNumber = "123456789012"
    package static let projectID = "contract-test-1"
    package static let appID = "1:123456789012:ios:0123456789abcdef"
    package static let client = "123456789012-abcdefghijklmnopqrstuvwxyz012345.apps.googleusercontent.com"
    package static let resource = "projects/contract-test-1/apps/\(appID)"
    package static let name = "projects/123456789012/apps/\(appID)"
    /// Another app of the same project, with the same Apple App ID.
    package static let otherAppID = "1:123456789012:ios:fedcba9876543210"
    package static let otherResource = "projects/contract-test-1/apps/\(otherAppID)"
    /// Another project, by number.
    package static let otherProject = "210987654321"
    package static let start: Int64 = 1_795_000_000_250
    /// The hash that a backend gives with `verifyAttestation` and `verifyAssertion`.
    package static let clientDataHash = [UInt8](repeating: 7, count: 32)

    package static let model = DeviceModel(ca: ca, appID: appleAppID)
    package static let rsa = try? SigningKey.generate(.rsa)
    package static let otherRSA = try? SigningKey.generate(.rsa)
    package static let p256 = try? SigningKey.generate(.p256)

    package struct MissingKey: Error {
        package init() {}
    }

    package static func rs256(
        _ kid: String = "Kx3_Qa",
        state: TokenKey.State = .active,
        key: SigningKey? = rsa
    ) throws -> TokenKey {
        guard let key else { throw MissingKey() }
        return try TokenKey(kid: kid, algorithm: .rs256, state: state, key: key)
    }

    package static func es256(_ kid: String = "Ec4_Rb", state: TokenKey.State = .active) throws -> TokenKey {
        guard let p256 else { throw MissingKey() }
        return try TokenKey(kid: kid, algorithm: .es256, state: state, key: p256)
    }

    /// 32 bytes in place of the file of a sealing or challenge key.
    package static func secretBytes(_ seed: UInt8) -> [UInt8] { SHA256.hash([seed, 77]).bytes }

    /// Keys named after their seeds, the first one active.
    package static func ring<Key: SecretKey>(_ seeds: [UInt8], absent: [String] = []) throws -> SecretRing<Key> {
        try SecretRing(
            seeds.map { NamedSecret(id: "key-\($0)", secret: Secret(secretBytes($0))) },
            absent: absent
        )
    }

    package static func keys(
        tokens: [TokenKey]? = nil,
        sealing: [UInt8] = [1],
        challenges: [UInt8] = [2]
    ) throws -> KeyRings {
        KeyRings(
            tokens: try TokenKeyRing(tokens ?? [rs256(), es256()]),
            sealing: try ring(sealing),
            challenges: try ring(challenges)
        )
    }

    /// A random UUID as Apple's systems write it, and its entry in apps.json.
    package static let debugSecret = "6F1B0C39-3E0C-4C58-8F2E-0B6A4D0F1C11"
    package static func debugToken(
        _ secret: String = debugSecret,
        until: Int64 = start + 3_600_000
    ) throws -> DebugToken {
        guard let hash = DebugToken.hash(of: Array(secret.utf8)) else { throw MissingKey() }
        return DebugToken(hash: hash, name: "ci", until: EvaluationTime(milliseconds: until))
    }

    /// Two apps of one project and one of another, all with one Apple App ID; `adjust` changes the first.
    package static func registry(_ adjust: (inout RegisteredApp) -> Void = { _ in }) throws -> Registry {
        let expectations = Expectations(appIDs: [AppID(appleAppID)])
        func app(_ project: String, _ projectID: String?, _ appID: String) -> RegisteredApp {
            RegisteredApp(projectNumber: project, projectID: projectID, appID: appID, expectations: expectations)
        }
        var first = app(projectNumber, projectID, appID)
        first.oauthClientIDs = [client]
        adjust(&first)
        return try Registry(apps: [
            first, app(projectNumber, projectID, otherAppID), app(otherProject, nil, "1:210987654321:ios:00"),
        ])
    }

    /// Live settings: every partition is certain. A rig puts random bytes of its own in the place of these zeros.
    package static func settings(
        keys: KeyRings? = nil,
        partitions: Int32 = 1,
        adjust: (inout RegisteredApp) -> Void = { _ in }
    ) throws -> PipelineSettings {
        var settings = PipelineSettings(registry: try registry(adjust))
        settings.partitionOfKey = { Self.partition(of: $0, partitions) }
        settings.exchange = ExchangeSettings(keys: try keys ?? Self.keys())
        settings.exchange.partitions = Int(partitions)
        settings.exchange.randomBytes = { [UInt8](repeating: 0, count: $0) }
        return settings
    }

    package static func settings(sealing seeds: [UInt8]) throws -> PipelineSettings {
        try settings(keys: keys(sealing: seeds))
    }

    /// Stands for murmur2.
    package static func partition(of key: [UInt8], _ partitions: Int32) -> Int32 {
        Int32(SHA256.hash(key).bytes[0]) % partitions
    }
}
