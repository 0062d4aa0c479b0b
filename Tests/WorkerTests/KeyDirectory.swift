internal import AppCheck
internal import Crypto
internal import Foundation
internal import Testing

@testable internal import Worker

/// A config directory with key files, removed with its owner.
struct KeyDirectory {
    static let app = "projects/1/apps/a"
    let files: ConfigurationDirectory
    var path: String { files.path }

    /// - Parameters:
    ///   - members: of worker.json, beside the anchors.
    ///   - app: members of the one app beside its id.
    init(_ members: String = "", app: String = #""appleAppIds":["T.b"]"#) throws {
        let anchors = #""anchors":{"attestation":["root.pem"]}"#
        files = try ConfigurationDirectory(
            worker: "{\(members.isEmpty ? anchors : "\(anchors),\(members)")}",
            apps: ConfigurationDirectory.apps(app)
        )
    }

    /// One key of each kind, listed and in place.
    ///
    /// - Parameter app: ES256, whose keys are made in no time.
    static func complete(app: String = #""tokenAlgorithm":"ES256""#) throws -> KeyDirectory {
        let directory = try KeyDirectory(app: app)
        try #require(directory.run("new-keys", "--add").code == 0)
        return directory
    }

    /// Writes a file with its rights.
    func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws {
        try files.write(name, bytes)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(path)/\(name)")
    }

    func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
        try write(name, Array(text.utf8), mode: mode)
    }

    func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: "\(path)/\(name)")), as: UTF8.self)
    }

    func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")
        return try #require(attributes[.posixPermissions] as? Int)
    }

    /// Makes a file look so much older.
    func age(_ name: String, hours: Double) throws {
        let time = Date(timeIntervalSinceNow: -hours * 3600)
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: "\(path)/\(name)")
    }

    func load() throws(ConfigurationFault) -> LoadedConfiguration { try LoadedConfiguration.load(directory: path) }

    /// The fault's message, the directory's own path taken out; nil if everything loads.
    func fault() -> String? {
        do throws(ConfigurationFault) {
            _ = try load()
            return nil
        } catch {
            return error.message.replacingOccurrences(of: path, with: "DIR")
        }
    }

    /// Runs a command on this directory.
    func run(_ command: String, _ arguments: String...) -> (code: Int32, output: String, error: String) {
        let (code, transcript) = Transcript.run([command, "--config", path] + arguments)
        return (code, transcript.output, transcript.error)
    }
}

/// Contents of key files. Named, so that no test prints a key.
enum KeyContent: String, CaseIterable, Sendable {
    case rsa, p256, rsa1024, p384, encrypted, secret, twoSecrets, blankLine, raw, empty

    var text: String {
        switch self {
        case .rsa: KeyText.rsa
        case .p256: KeyText.p256
        case .rsa1024: UnfitKeys.rsa1024
        case .p384: UnfitKeys.p384
        case .encrypted: UnfitKeys.encrypted
        case .secret: KeyText.secret(1)
        case .twoSecrets: KeyText.secret(7) + KeyText.secret(8)
        case .blankLine: KeyText.secret(7) + "\n"
        case .raw: "32 bytes of text, but not base64"
        case .empty: ""
        }
    }
}

/// Fresh keys as texts of files.
enum KeyText {
    static let rsa = String(decoding: made(.rsa), as: UTF8.self)
    static let p256 = String(decoding: made(.p256), as: UTF8.self)

    static func secret(_ byte: UInt8, count: Int = 32) -> String {
        Data([UInt8](repeating: byte, count: count)).base64EncodedString() + "\n"
    }

    private static func made(_ kind: SigningKey.Kind) -> [UInt8] { (try? SigningKey.generate(kind))?.pem ?? [] }
}
