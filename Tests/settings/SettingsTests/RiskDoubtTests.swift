import TestKit
import Testing

@testable import Settings

@Suite("Doubts about risk.above")
struct RiskDoubtTests {
    @Test(arguments: [("refuse", 1, true), ("refuse", 4, true), ("refuse", 5, false), ("report", 1, false)])
    func `a limit that honest devices reach is told, where it refuses`(mode: String, above: Int, isTold: Bool) throws {
        let directory = try ConfigurationDirectory(
            worker: ConfigurationDirectory.worker(#""topics":{"receipts":"r"}"#),
            apps: ConfigurationDirectory.apps(#""risk":{"mode":"\#(mode)","above":\#(above)}"#)
        )
        let doubts = try directory.load().doubts.filter { $0.contains("risk.above is \(above)") }
        #expect(doubts.count == (isTold ? 1 : 0))
    }

    @Test(arguments: [("refuse", "report", true), ("refuse", "require", false), ("report", "report", false)])
    func `receipts that may be left out are told, where their metrics refuse`(
        mode: String,
        receipt: String,
        isTold: Bool
    ) throws {
        let directory = try ConfigurationDirectory(
            worker: ConfigurationDirectory.worker(#""topics":{"receipts":"r"}"#),
            apps: ConfigurationDirectory.apps(#""receipt":"\#(receipt)","risk":{"mode":"\#(mode)","above":9}"#)
        )
        let doubts = try directory.load().doubts.filter { $0.contains("leaves the receipt out") }
        #expect(doubts.count == (isTold ? 1 : 0))
    }
}

@Suite("Doubts about kafka.properties")
struct ClearSecretTests {
    @Test(
        arguments: [
            ("security.protocol=sasl_plaintext\nsasl.mechanisms=OAUTHBEARER", "the token"),
            ("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN", "the password"),
            ("security.protocol=sasl_ssl\nsasl.mechanisms=OAUTHBEARER", nil),
            ("security.protocol=sasl_plaintext\nsasl.mechanisms=SCRAM-SHA-256", nil), ("", nil),
        ] as [(String, String?)]
    )
    func `a secret that is sent in clear text is told`(properties: String, secret: String?) throws {
        let directory = try ConfigurationDirectory(properties: properties)
        let doubts = try directory.load().doubts.filter { $0.contains("clear text") }
        #expect(doubts.count == (secret == nil ? 0 : 1))
        #expect(secret.map { doubts[0].contains($0) && doubts[0].contains("sasl_ssl") } ?? true)
    }
}
