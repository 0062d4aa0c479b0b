import Foundation
import TestKit
import Testing

@testable import Settings

/// A mistake that users make is a row here, and one of `SettingDoubts`.
@Suite("Settings that are valid and rarely meant")
struct SettingDoubtTests {
    /// - Parameter warning: the only doubt, after its file's name; nil = there is none.
    private func expect(_ warning: String?, of directory: ConfigurationDirectory, in file: String) throws {
        let doubts = try directory.load().doubts
        #expect(doubts.count == (warning == nil ? 0 : 1), "\(doubts)")
        if let warning { #expect(doubts.first?.hasPrefix("\(file): \(warning)") == true, "\(doubts)") }
    }

    @Test(
        arguments: [
            #""gateway":{"trustedProxies":["0.0.0.0/0"]}"#: "gateway.trustedProxies has a network of every address",
            #""gateway":{"trustedProxies":["10.0.0.0/8","::/0"]}"#: "gateway.trustedProxies has a network of every",
            #""gateway":{"trustedProxies":["10.0.0.0/8","0.0.0.0/32"]}"#: nil,
            #""gateway":{"verifierHeader":"X-Name","trustedProxies":["::1"]}"#:
                "gateway.verifierHeader is set and gateway.v",
            #""gateway":{"verifierHeader":"X-Name","verifierNames":["a"]}"#:
                "gateway.verifierHeader is set and gateway.t",
            #""gateway":{"verifierHeader":"X-Name","verifierNames":["a"],"trustedProxies":["::1"]}"#: nil,
            #""limits":{"valueBytes":1000}"#: "limits.valueBytes is below 12288",
            #""limits":{"valueBytes":12288}"#: nil,
            #""delivery":"at-least-once","state":{"snapshots":true}"#:
                "state.snapshots is true and delivery is at-least-once",
            #""delivery":"at-least-once","state":{"snapshots":false}"#: nil, #""state":{"snapshots":true}"#: nil,
            #""keys":{"expireAfter":"365d"}"#: "keys.expireAfter is below 366d",
            #""keys":{"expireAfter":"366d"}"#: nil, #""keys":{"expireAfter":"0s"}"#: nil,
            #""clock":{"maxAge":"1m"}"#: "clock.maxAge is below 10m", #""clock":{"maxAge":"10m"}"#: nil,
            #""challenges":{"ttl":"1s"}"#: "challenges.ttl is below 30s", #""challenges":{"ttl":"30s"}"#: nil,
            #""challenges":{"mode":"external","ttl":"1s"}"#: nil,
            #""sealingKeys":[{"id":"s","file":"f"}],"challenges":{"mode":"external","keys":[{"id":"a","file":"f"}]}"#:
                "challenges.mode is external and challenges.keys lists keys",
            // Operators' codes come from them where there is no sealing key.
            #""challenges":{"mode":"external","keys":[{"id":"a","file":"f"}]}"#: nil,
            #""risk":{"again":"30d","late":"7d"}"#: "risk.late is not after risk.again",
            #""risk":{"again":"7d","late":"7d"}"#: "risk.late is not after risk.again",
        ] as [String: String?]
    )
    func `of worker.json`(_ members: String, _ warning: String?) throws {
        let worker = ConfigurationDirectory.worker(members)
        try expect(warning, of: ConfigurationDirectory(worker: worker), in: "worker.json")
    }

    @Test(
        arguments: [
            (#""receipt":"require""#, "anchors.receipt is empty and an app's receipt is require"),
            (#""receipt":"report""#, nil),
            (#""risk":{"mode":"report"}"#, "anchors.receipt is empty and an app's risk.mode is on"),
        ] as [(String, String?)]
    )
    func `receipts that no root can vouch for`(_ members: String, _ warning: String?) throws {
        let worker = ConfigurationDirectory.worker(#""topics":{"receipts":"r"}"#)
        let directory = try ConfigurationDirectory(worker: worker, apps: ConfigurationDirectory.apps(members))
        try expect(warning, of: directory, in: "worker.json")
    }

    private static let inClearText = "in clear text, and its reader can use it; set sasl_ssl"

    @Test(
        arguments: [
            "sasl.username=a": "sasl.* and ssl.* have no effect", "ssl.ca.location=/a": "sasl.* and ssl.* have no",
            "security.protocol=PLAINTEXT\nssl.ca.location=/a": "sasl.* and ssl.* have no effect",
            "security.protocol=sasl_ssl\nsasl.username=a": nil, "security.protocol=SSL\nssl.ca.location=/a": nil,
            "security.protocol=sasl_plaintext\nsasl.mechanisms=OAUTHBEARER":
                "security.protocol=sasl_plaintext with OAUTHBEARER sends the token \(inClearText)",
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN":
                "security.protocol=sasl_plaintext with PLAIN sends the password \(inClearText)",
            "security.protocol=sasl_ssl\nsasl.mechanisms=OAUTHBEARER": nil,
            "security.protocol=sasl_plaintext\nsasl.mechanisms=SCRAM-SHA-256": nil,
            "security.protocol=ssl\nenable.ssl.certificate.verification=false":
                "enable.ssl.certificate.verification is false",
            "security.protocol=ssl\nenable.ssl.certificate.verification=true": nil,
            "security.protocol=ssl\nssl.endpoint.identification.algorithm=none":
                "ssl.endpoint.identification.algorithm=none",
            "security.protocol=ssl\nssl.endpoint.identification.algorithm=https": nil,
            "bootstrap.servers=http://a:9092": "bootstrap.servers is a list of host:port",
            "bootstrap.servers=a:9092;b:9092": "bootstrap.servers is a list of host:port",
            "bootstrap.servers=a:9092,b:9092": nil, "metadata.broker.list=a;b": "bootstrap.servers is a list",
            "transaction.timeout.ms=1000": "transaction.timeout.ms is below 10000",
            "transaction.timeout.ms=10000": nil,
            "security.protocol=sasl_ssl\nsasl.oauthbearer.token.command=/a | /b":
                "sasl.oauthbearer.token.command is run by no shell",
            "security.protocol=sasl_ssl\nsasl.oauthbearer.token.command=/a a|b": nil,
        ] as [String: String?]
    )
    func `of kafka.properties`(_ lines: String, _ warning: String?) throws {
        try expect(warning, of: ConfigurationDirectory(properties: lines + "\n"), in: "kafka.properties")
    }

    @Test(arguments: [("true", 1), ("false", 0)])
    func `a broker that is never asked`(_ isEmbedded: String, _ count: Int) throws {
        let worker = ConfigurationDirectory.worker(#""embeddedBroker":\#(isEmbedded)"#)
        let directory = try ConfigurationDirectory(worker: worker, properties: "bootstrap.servers=a:9092\n")
        try expect(count > 0 ? "embeddedBroker is true and" : nil, of: directory, in: "worker.json")
    }

    @Test(
        arguments: [
            (#""rollout":{"mode":"on"}"#, "rollout.mode is on, and rollout.percent is 0 or absent"),
            (#""rollout":{"mode":"on","percent":1}"#, nil), (#""rollout":{"mode":"shadow"}"#, nil),
            (#""tokenLeeway":"500ms""#, "tokenLeeway is counted in whole seconds"), (#""tokenLeeway":"2s""#, nil),
        ] as [(String, String?)]
    )
    func `of an app`(_ members: String, _ warning: String?) throws {
        let directory = try ConfigurationDirectory(apps: ConfigurationDirectory.apps(members))
        try expect(warning, of: directory, in: "apps.json: projects/1/apps/a")
    }

    /// Honest devices reach a low limit; a hostile one leaves the receipt out, and never has a metric.
    @Test(
        arguments: [
            ("refuse", 1, "require", "risk.above is 1: "), ("refuse", 4, "require", "risk.above is 4: "),
            ("refuse", 5, "require", nil), ("report", 1, "report", nil),
            ("refuse", 9, "report", "risk.mode is refuse and receipt is report: "),
        ] as [(String, Int, String, String?)]
    )
    func `a risk policy that refuses`(mode: String, above: Int, receipt: String, warning: String?) throws {
        let members = #""receipt":"\#(receipt)","risk":{"mode":"\#(mode)","above":\#(above)}"#
        let worker = ConfigurationDirectory.worker(#""topics":{"receipts":"r"}"#)
        let directory = try ConfigurationDirectory(worker: worker, apps: ConfigurationDirectory.apps(members))
        let doubts = try directory.load().doubts.filter { $0.hasPrefix("apps.json: ") }
        #expect(doubts.count == (warning == nil ? 0 : 1), "\(doubts)")
        if let warning { #expect(doubts.first?.hasPrefix("apps.json: projects/1/apps/a: \(warning)") == true) }
    }

    @Test(
        arguments: [
            ("1:1:ios:0123456789abcdef", nil), ("com.example.app", "appId looks like a bundle"),
            ("app-1", nil),
        ] as [(String, String?)]
    )
    func `an App ID that no device calls`(_ id: String, _ warning: String?) throws {
        let apps = #"{"projects":[{"number":"1","apps":[{"appId":"\#(id)","appleAppIds":["ABCDE12345.b"]}]}]}"#
        try expect(warning, of: ConfigurationDirectory(apps: apps), in: "apps.json: projects/1/apps/\(id)")
    }
}

@Suite("Secrets that everyone knows, or of two kinds")
struct SecretDoubtTests {
    private static let lists = #""sealingKeys":[{"id":"s","file":"s"}],"challenges":{"keys":[{"id":"c","file":"c"}]}"#

    @Test(
        arguments: [
            (1, 2, nil), (0, 2, "worker.json: sealing key s is 32 zero bytes"),
            (1, 0, "worker.json: challenge key c is 32 zero bytes"),
            (1, 1, "worker.json: sealing key s is a challenge key as well"),
        ] as [(UInt8, UInt8, String?)]
    )
    func `a known secret and one of two kinds cause warnings`(
        sealing: UInt8,
        challenge: UInt8,
        warning: String?
    ) throws {
        let directory = try KeyDirectory(Self.lists)
        try directory.write("s", KeyText.secret(sealing))
        try directory.write("c", KeyText.secret(challenge))
        // No signing key is listed, which is another line.
        let lines = try directory.load().warnings(now: 0).filter { !$0.hasPrefix("no ") }
        #expect(lines.count == (warning == nil ? 0 : 1), "\(lines)")
        if let warning { #expect(lines.first?.hasPrefix(warning) == true, "\(lines)") }
    }

    @Test func `no properties that a page shows cause a doubt`() throws {
        let folder = ConfigurationPageTests.pages
        var examples = 0
        for page in try FileManager.default.contentsOfDirectory(atPath: folder.path) where page.hasSuffix(".md") {
            let parts = try String(contentsOf: folder.appending(path: page), encoding: .utf8)
                .components(separatedBy: "```properties\n").dropFirst()
            for part in parts {
                examples += 1
                let lines = part.components(separatedBy: "```")[0]
                let doubts = try ConfigurationDirectory(properties: lines).load().doubts
                #expect(doubts.isEmpty, "\(page): \(doubts)")
            }
        }
        #expect(examples > 5)
    }
}
