internal import Foundation
package import Settings

/// A config directory in the temporary folder, removed with its owner.
package final class ConfigurationDirectory: FileFolder {
    package let path: String

    package static let worker = #"{"anchors":{"attestation":["root.pem"]}}"#
    package static let apps = #"{"projects":[{"number":"1","apps":[{"appId":"a","appleAppIds":["ABCDE12345.b"]}]}]}"#

    package init(
        worker: String? = ConfigurationDirectory.worker,
        apps: String? = ConfigurationDirectory.apps,
        properties: String? = ""
    ) throws {
        path = FileManager.default.temporaryDirectory.path + "/configuration-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try write("root.pem", "attestation root")
        if let worker { try write("worker.json", worker) }
        if let apps { try write("apps.json", apps) }
        if let properties { try write("kafka.properties", properties) }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    package func write(_ name: String, _ text: String) throws { try write(text, to: name) }

    package func write(_ name: String, _ bytes: [UInt8]) throws { try write(bytes, to: name) }

    package func load() throws(ConfigurationFault) -> Configuration {
        do throws(ConfigurationFault) {
            let configuration = try Configuration.load(directory: path)
            SchemaAgreement.check(path, nil)
            return configuration
        } catch {
            SchemaAgreement.check(path, error)
            throw error
        }
    }

    /// The fault's message, with the directory's own path taken out; nil if it loads.
    package func fault() -> String? {
        do throws(ConfigurationFault) {
            _ = try load()
            return nil
        } catch {
            return error.message.replacingOccurrences(of: path, with: "DIR")
        }
    }
}

extension ConfigurationDirectory {
    /// worker.json with `members` beside the anchors.
    package static func worker(_ members: String) -> String { #"{"anchors":{"attestation":["root.pem"]},\#(members)}"# }

    /// apps.json with one app that has `members` beside its id.
    package static func apps(_ members: String) -> String {
        #"{"projects":[{"number":"1","id":"one","apps":[{"appId":"a",\#(members)}]}]}"#
    }
}
