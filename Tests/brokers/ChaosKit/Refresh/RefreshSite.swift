package import BrokerKit
package import Crypto
internal import DeviceLab
internal import Foundation
internal import Kafka
internal import Streams

/// A configuration with receipts and a team's DeviceCheck key, and the processes of the fraud metric on it: workers,
/// refreshers, and Apple's double behind a relay.
package final class RefreshSite {
    package struct Settings: Sendable {
        package var partitions: Int32 = 3
        package var callsPerSecond = 100
        /// The app's `risk.mode`.
        package var mode = "report"
        /// More of apps.json's `risk`, each with a comma in front.
        package var risk = ""
        /// How long Apple's answers are on their way.
        package var latency = Duration.zero

        package init() {}
    }

    package static let appID = "ABCDE12345.com.example.app"
    private static let keyFile = "devicecheck.p8"

    package let workplace: ProgramWorkplace
    package let relay: AppleRelay
    package let key: SigningKey
    package let settings: Settings
    private let applePort: UInt16

    /// On a cluster without these topics; `create-topics` makes them.
    package init(_ prefix: String, servers: String, _ settings: Settings = Settings()) throws {
        self.settings = settings
        applePort = try BrokerPorts.freePort()
        relay = try AppleRelay(to: applePort, latency: settings.latency)
        key = try SigningKey.generate(.p256)
        var options = ProgramWorkplace.Options()
        (options.prefix, options.partitions, options.topicMaker) = (prefix, settings.partitions, .nobody)
        let endpoint = "http://127.0.0.1:\(relay.port)/v1/attestationData"
        options.members = """
            "risk": {"keys": [{"team": "ABCDE12345", "kid": "K1", "file": "\(Self.keyFile)"}], "first": "1s", \
            "again": "24h", "late": "24h", "callsPerSecond": \(settings.callsPerSecond), \
            "endpoints": {"production": "\(endpoint)"}},
            """
        workplace = try ProgramWorkplace(servers: servers, options)
        try workplace.rewrite("worker.json") {
            $0.replacing(#""requests":"#, with: #""receipts": "\#(prefix).receipts", "requests":"#)
        }
        try workplace.rewrite("apps.json") {
            $0.replacing(#""appId":"#, with: #""risk": {"mode": "\#(settings.mode)"\#(settings.risk)}, "appId":"#)
        }
        let file = workplace.config + "/" + Self.keyFile
        guard
            FileManager.default.createFile(
                atPath: file,
                contents: Data(key.pem),
                attributes: [.posixPermissions: 0o600]
            )
        else { throw ProgramFault(description: "cannot write \(file)") }
    }

    package var receipts: String { workplace.topic("receipts") }
    package var keyPath: String { workplace.config + "/" + Self.keyFile }

    package func createTopics() throws {
        try workplace.done("create-topics", "--partitions", String(settings.partitions))
    }

    package func worker(_ name: String) throws -> ProgramProcess { try workplace.start("run", "--instance", name) }

    package func refresher(_ name: String) throws -> ProgramProcess {
        try workplace.start("refresh-receipts", "--instance", name)
    }

    /// Apple's double, always on the same port.
    ///
    /// - Parameter faults: the share of its answers with a fault; dripping ones, which take a call's whole time, are none
    ///   of them.
    package func apple(faults: Double = 0, seed: UInt64 = 1) throws -> ProgramProcess {
        var arguments = ["--key", "ABCDE12345:K1:\(keyPath)", "--port", String(applePort)]
        if faults > 0 {
            let names = AppleFault.allCases.map(\.name).filter { $0 != "dripping" }
            arguments += ["--faults", String(faults), "--seed", String(seed)] + names.flatMap { ["--fault", $0] }
        }
        return try workplace.start("lab-apple", arguments)
    }
}
