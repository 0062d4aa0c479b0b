internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Foundation
internal import Run
internal import Settings
internal import TestKit

/// The files of a configuration: those that the operator intends, or those on one machine.
struct ServiceFiles: Hashable {
    struct App: Hashable {
        let id: String
        var appleIDs: [String]
        var bundleIDs: [String] = []
        /// Its OAuth client, by which Google Sign-In calls.
        var clients: [String] = []
    }

    enum KeyState: String { case active, published, revoked }

    struct SigningKey: Hashable {
        let kid: String
        var state: KeyState
    }

    /// An operator's mistake in apps.json.
    enum Mistake: String, CaseIterable { case unreadable, noApp, otherEnvironment }

    static let project = ExchangeKit.projectNumber
    static let projectID = ExchangeKit.projectID

    var apps = [App(id: ExchangeKit.appID, appleIDs: [ExchangeKit.appleAppID], bundleIDs: ["com.example.app.Clip"])]
    var retired: [String] = []
    var signing = [SigningKey(kid: "k1", state: .active)]
    var sealing = ["s1"]
    var challenges = ["c1"]
    /// The keys of the file of `gateway.publicKeys`.
    var keySet = ["k1"]
    var mistake: Mistake?
    /// Whether there is an app with a debug token.
    var isTested = false
    /// `gateway.bundleHeader`.
    var requiresBundle = false
    /// `challenges.ttl` in seconds.
    var challengeSeconds = 300

    /// The signing keys that a key set has now.
    var published: [String] { signing.filter { $0.state != .revoked }.map(\.kid) }

    /// Makes a key the active one, and lists it if needed.
    mutating func sign(by kid: String) {
        if !signing.contains(where: { $0.kid == kid }) { signing.append(SigningKey(kid: kid, state: .active)) }
        for index in signing.indices where signing[index].state != .revoked {
            signing[index].state = signing[index].kid == kid ? .active : .published
        }
    }

    func retires(_ app: String) -> Bool { retired.contains { $0.hasSuffix(app) } }

    func lists(_ app: String) -> Bool { mistake == nil && apps.contains { $0.id == app } }

    /// The files as a program reads them.
    ///
    /// - Parameter machine: the process's name.
    func configuration(in folder: ServiceFolder, of machine: String = "gateway-1") -> ConfigurationFiles {
        var files = ConfigurationFiles(directory: folder.path)
        files.replacing = [
            "apps.json": Array(appsText.utf8), "worker.json": Array(workerText(machine).utf8),
            "kafka.properties": Array("bootstrap.servers=localhost:9092\n".utf8),
        ]
        return files
    }

    private var appsText: String {
        switch mistake {
        case .unreadable: return #"{"projects": ["#
        case .noApp: return #"{"projects": []}"#
        case .otherEnvironment: return Self.text([App(id: "1:210987654321:ios:00", appleIDs: ["ABCDE12345.x"])], [])
        case nil: return Self.text(apps, retired, isTested)
        }
    }

    private static func text(_ apps: [App], _ retired: [String], _ isTested: Bool = false) -> String {
        func list(_ names: [String]) -> String { "[" + names.map { "\"\($0)\"" }.joined(separator: ",") + "]" }
        let tested = isTested ? [ServiceTester.entry] : []
        let texts =
            tested
            + apps.map { app in
                #"{"appId":"\#(app.id)","appleAppIds":\#(list(app.appleIDs)),"bundleIds":\#(list(app.bundleIDs)),"#
                    + #""oauthClientIds":\#(list(app.clients)),"#
                    + #""tokenAlgorithm":"ES256","environments":["production"]}"#
            }
        return
            #"{"projects":[{"number":"\#(project)","id":"\#(projectID)","apps":[\#(texts.joined(separator: ","))]}],"#
            + #""retired":\#(list(retired))}"#
    }

    private func workerText(_ machine: String) -> String {
        func secrets(_ ids: [String]) -> String {
            "[" + ids.map { #"{"id":"\#($0)","file":"\#($0)"}"# }.joined(separator: ",") + "]"
        }
        let keys = signing.map {
            #"{"kid":"\#($0.kid)","file":"\#($0.kid).pem","algorithm":"ES256","state":"\#($0.state.rawValue)"}"#
        }
        return #"{"anchors":{"attestation":["root.pem"]},"signingKeys":[\#(keys.joined(separator: ","))],"#
            + #""sealingKeys":\#(secrets(sealing)),"challenges":{"ttl":"\#(challengeSeconds)s","keys":\#(secrets(challenges))},"#
            + #""gateway":{"publicKeys":"\#(machine).jwks","verifiers":"verifiers","bundleHeader":"\#(requiresBundle ? "require" : "count")"}}"#
    }
}

/// The files that all seeds share: keys, and the key sets that can be made of them.
final class ServiceFolder {
    static let kids = ["k1", "k2", "k3", "k4"]
    static let secret = "a secret of the backend"

    private let directory: KeyDirectory
    private let keys: [TokenKey]
    private var sets: [[String]: String] = [:]
    private var starts: [ServiceFiles: LoadedConfiguration] = [:]
    private var gateways: [ServiceFiles: [String: LoadedGateway]] = [:]

    var path: String { directory.path }

    init() throws {
        let directory = try KeyDirectory()
        let keys = try Self.kids.map { kid in
            let key = try SigningKey.generate(.p256)
            try directory.write("\(kid).pem", key.pem)
            return try TokenKey(kid: kid, algorithm: .es256, state: .published, key: key)
        }
        for (number, name) in ["s1", "s2", "s3", "c1", "c2", "c3"].enumerated() {
            try directory.write(name, KeyText.secret(UInt8(number + 1)))
        }
        (self.directory, self.keys) = (directory, keys)
        // Warnings depend on a key's age.
        for kid in Self.kids {
            let date = Date(timeIntervalSince1970: 1_780_000_000)
            try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: directory.file("\(kid).pem"))
        }
        let digest = Hexadecimal.encode(SHA256.hash(Array(Self.secret.utf8)).bytes)
        try directory.write("verifiers", "backend \(digest)\n")
    }

    /// The configuration that a worker starts with, read once for all seeds.
    func loaded(_ files: ServiceFiles) throws(ConfigurationFault) -> LoadedConfiguration {
        if let loaded = starts[files] { return loaded }
        let loaded = try LoadedConfiguration.load(files.configuration(in: self))
        starts[files] = loaded
        return loaded
    }

    /// The same of a gateway, by its machine.
    func loaded(_ files: ServiceFiles, of machine: String) throws(ConfigurationFault) -> LoadedGateway {
        if let loaded = gateways[files]?[machine] { return loaded }
        let loaded = try LoadedGateway.load(files.configuration(in: self, of: machine), after: nil)
        gateways[files, default: [:]][machine] = loaded
        return loaded
    }

    /// Writes the key set of a machine's `gateway.publicKeys`.
    func write(_ kids: [String], of machine: String) throws {
        let text = try sets[kids] ?? set(kids)
        sets[kids] = text
        try directory.write("\(machine).jwks", text, mode: 0o644)
    }

    /// - Returns: the path of a file with these bytes.
    func write(_ bytes: [UInt8], as name: String) throws -> String {
        try directory.write(name, bytes)
        return directory.file(name)
    }

    private func set(_ kids: [String]) throws -> String {
        String(decoding: try TokenKeyRing(keys.filter { kids.contains($0.kid) }).jsonWebKeySet, as: UTF8.self)
    }
}
