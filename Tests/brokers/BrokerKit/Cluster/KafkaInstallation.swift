package import Foundation
internal import TestKit

/// An unpacked Apache Kafka: `KAFKA_HOME`, or `../shared/kafka` beside the checkout.
package struct KafkaInstallation: Sendable {
    package let home: URL
    package let java: URL

    /// The installation found, or nil: ``whyMissing`` then has the remedy.
    package static let found: KafkaInstallation? = {
        guard let java = executable("java") else { return nil }
        return candidates.first { jar(of: $0) != nil }.map { KafkaInstallation(home: $0, java: java) }
    }()

    package static var whyMissing: String {
        "no real Kafka: set KAFKA_HOME to an unpacked Apache Kafka and install Java 17 or newer (looked in "
            + candidates.map(\.path).joined(separator: ", ") + ")"
    }

    /// The installation for tests: they start brokers only where `BROKER_TESTS` is set, since that takes many minutes.
    package static let ofTests: KafkaInstallation? = {
        ProcessInfo.processInfo.environment["BROKER_TESTS"] == nil ? nil : found
    }()

    package static var whyNotTested: String {
        ofTests == nil && found != nil ? "BROKER_TESTS=1 runs the tests that start real brokers" : whyMissing
    }

    /// A program on the PATH.
    package static func executable(_ name: String) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// 4 of `kafka_2.13-4.3.1.jar`; nil where the name has no version.
    package var majorVersion: Int? {
        Self.jar(of: home)?.split(separator: "-").dropFirst().first?.split(separator: ".").first.flatMap { Int($0) }
    }

    private static var candidates: [URL] {
        let beside = PackageFolder.url.deletingLastPathComponent().appendingPathComponent("shared/kafka")
        guard let home = ProcessInfo.processInfo.environment["KAFKA_HOME"] else { return [beside] }
        return [URL(fileURLWithPath: home)]
    }

    /// The broker's own; nil = there is none.
    private static func jar(of home: URL) -> String? {
        let files = try? FileManager.default.contentsOfDirectory(atPath: home.path + "/libs")
        return files?.first { $0.hasPrefix("kafka_2") && $0.hasSuffix(".jar") }
    }
}
