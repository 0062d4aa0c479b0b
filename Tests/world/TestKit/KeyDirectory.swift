internal import AppCheck
internal import Crypto
internal import Foundation
package import Settings

/// A config directory with key files, removed with its owner.
package struct KeyDirectory: FileFolder {
    package static let app = "projects/1/apps/a"
    package let files: ConfigurationDirectory
    package var path: String { files.path }

    /// - Parameters:
    ///   - members: of worker.json, beside the anchors.
    ///   - app: members of the one app beside its id.
    package init(_ members: String = "", app: String = #""appleAppIds":["ABCDE12345.b"]"#) throws {
        let anchors = #""anchors":{"attestation":["root.pem"]}"#
        files = try ConfigurationDirectory(
            worker: "{\(members.isEmpty ? anchors : "\(anchors),\(members)")}",
            apps: ConfigurationDirectory.apps(app)
        )
    }

    /// One key of each kind, listed and in place.
    ///
    /// - Parameter app: ES256, whose keys are made in no time.
    package static func complete(app: String = #""tokenAlgorithm":"ES256""#) throws -> KeyDirectory {
        let directory = try KeyDirectory(app: app)
        let algorithms = Set(try directory.files.load().registry.apps.map(\.tokens.algorithm))
        let keys = try FreshKeys(algorithms: algorithms.sorted { $0.rawValue < $1.rawValue }, beside: nil)
        var lists = try KeyListEdit(Array(directory.text("worker.json").utf8))
        lists.add(keys)
        try keys.write(to: directory.path)
        try directory.files.write("worker.json", lists.bytes)
        return directory
    }

    /// Writes a file with its rights.
    package func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws {
        try files.write(name, bytes)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file(name))
    }

    package func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
        try write(name, Array(text.utf8), mode: mode)
    }

    package func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(name))
        return attributes[.posixPermissions] as? Int ?? -1
    }

    /// Makes a file look so much older.
    package func age(_ name: String, hours: Double) throws {
        let time = Date(timeIntervalSince1970: Double(timeOfDay()) / 1_000 - hours * 3600)
        try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: file(name))
    }

    package func load() throws(ConfigurationFault) -> LoadedConfiguration {
        let loaded = try LoadedConfiguration.load(directory: path)
        SchemaAgreement.check(path, nil)
        return loaded
    }

    /// The fault's message, the directory's own path taken out; nil if everything loads.
    package func fault() -> String? {
        do throws(ConfigurationFault) {
            _ = try load()
            return nil
        } catch {
            return error.message.replacingOccurrences(of: path, with: "DIR")
        }
    }
}

/// Fresh keys as texts of files.
package enum KeyText {
    package static let rsa = String(decoding: made(.rsa), as: UTF8.self)
    package static let p256 = String(decoding: made(.p256), as: UTF8.self)

    package static func secret(_ byte: UInt8, count: Int = 32) -> String {
        Data([UInt8](repeating: byte, count: count)).base64EncodedString() + "\n"
    }

    private static func made(_ kind: SigningKey.Kind) -> [UInt8] { (try? SigningKey.generate(kind))?.pem ?? [] }
}
