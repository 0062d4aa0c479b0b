import AppAttest
import Settings
import TestKit
import Testing

@Suite("worker.json: risk")
struct RiskSettingsTests {
    private static func directory(_ members: String) throws -> ConfigurationDirectory {
        try ConfigurationDirectory(worker: ConfigurationDirectory.worker(#""risk":{\#(members)}"#))
    }

    @Test func `every setting takes effect, and no file of a key is opened`() throws {
        let directory = try Self.directory(
            """
            "keys":[{"team":"T1","kid":"K1","file":"absent.p8"},
                    {"team":"T2","kid":"K2","file":"/absent/2.p8","appIDPrefixes":["P1","P2"]}],
            "callsPerSecond":0.5,"first":"90s","again":"24h","late":"60d",
            "endpoints":{"production":"https://a:8443/x","development":"http://127.0.0.1:8080/v1/attestationData"},
            "proxy":"http://proxy.example:3128","authorities":"roots.pem"
            """
        )
        let risk = try directory.load().risk
        #expect(risk.keys.map(\.team) == ["T1", "T2"] && risk.keys.map(\.kid) == ["K1", "K2"])
        #expect(risk.keys.map(\.file) == [directory.path + "/absent.p8", "/absent/2.p8"])
        #expect(risk.keys.map(\.prefixes) == [["T1"], ["P1", "P2"]])
        #expect(risk.callsPerSecond == 0.5 && risk.firstMilliseconds == 90_000)
        #expect(risk.againMilliseconds == 86_400_000 && risk.lateMilliseconds == 60 * 86_400_000)
        #expect(risk.endpoint(.production) == "https://a:8443/x")
        #expect(risk.endpoint(.development) == "http://127.0.0.1:8080/v1/attestationData")
        #expect(risk.proxy == "http://proxy.example:3128" && risk.authorities == directory.path + "/roots.pem")
    }

    @Test(
        arguments: [
            #""callsPerSecond":0.05"#: "risk.callsPerSecond: must be a number from 0.1 to 1000, not 0.05",
            #""callsPerSecond":1001"#: "risk.callsPerSecond: must be a number",
            #""callsPerSecond":"10""#: "risk.callsPerSecond: must be a number",
            #""again":"23h""#: "risk.again: must be a duration",
            #""first":"2d""#: "risk.first: must be a duration",
            #""late":"91d""#: "risk.late: must be a duration",
            #""never":"1d""#: "risk.never: unknown key",
            #""endpoints":{"production":"http://data.appattest.apple.com/v1"}"#: "http is for 127.0.0.1",
            #""endpoints":{"production":"ftp://a"}"#: "risk.endpoints.production: must be a URL",
            #""endpoints":{"staging":"https://a"}"#: "risk.endpoints.staging: unknown key",
            #""proxy":"https://proxy:3128""#: "risk.proxy: must be a proxy such as http://proxy:3128",
            #""proxy":"http://me:secret@proxy:3128""#: "risk.proxy: must be a proxy",
            #""proxy":"http://proxy""#: "risk.proxy: must be a proxy",
            #""authorities":"""#: "risk.authorities: must be a file's path",
            #""keys":[{"kid":"K","file":"f"}]"#: "risk.keys[0].team: is required",
            #""keys":[{"team":"T","file":"f"}]"#: "risk.keys[0].kid: is required",
            #""keys":[{"team":"T","kid":"K"}]"#: "risk.keys[0].file: is required",
            #""keys":[{"team":"T","kid":"K","file":"f","appIDPrefixes":[]}]"#: "must be a list of App ID prefixes",
            #""keys":[{"team":"T","kid":"K","file":"f","appIDPrefixes":["a.b"]}]"#: "must be a list of App ID prefixes",
            #""keys":[{"team":"T","kid":"K","file":"f"},{"team":"T","kid":"L","file":"g"}]"#:
                "risk.keys[1].team: appears twice",
            #""keys":[{"team":"T","kid":"K","file":"f"},{"team":"U","kid":"L","file":"g","appIDPrefixes":["T"]}]"#:
                "risk.keys[1].appIDPrefixes: T is a prefix of team T already",
        ] as [String: String]
    )
    func `what is wrong is refused with its place`(members: String, problem: String) throws {
        let fault = try #require(try Self.directory(members).fault())
        #expect(fault.hasPrefix("worker.json: risk.") && fault.contains(problem), "\(fault)")
        #expect(!fault.contains("\n"))
    }

    @Test(
        arguments: [
            ("https://host", true), ("https://[2001:db8::1]:443/x", true), ("http://127.0.0.1:1/x", true),
            ("http://[::1]:8080/", true), ("http://127.9.9.9", true),
            ("http://128.0.0.1/x", false), ("http://localhost/x", false), ("http://127.0.0.1.example.com/x", false),
            ("http://127.0.0.1@example.com/x", false), ("https://user:word@host/x", false), ("https://", false),
            ("https://host:0/x", false), ("https://host:65536/x", false), ("https://host:/x", false),
            ("https://host/x?y", false), ("https://host/x#y", false), ("https://ho st/x", false),
            ("https://[::1/x", false), ("https://[host]/x", false), ("HTTPS://host/x", false),
        ] as [(String, Bool)]
    )
    func `a token leaves this machine over TLS alone`(url: String, isTaken: Bool) throws {
        let fault = try Self.directory(#""endpoints":{"development":"\#(url)"}"#).fault()
        #expect((fault == nil) == isTaken, "\(fault ?? "taken")")
    }
}
