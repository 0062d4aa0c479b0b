import Settings
import TestKit
import Testing

@Suite struct ConfigurationFaultTests {
    @Test(
        arguments: [
            #""topics":{"requets":"x"}"#:
                "topics.requets: unknown key; known keys: requests, results, tokens, events, deadLetters, ledger",
            #""partitoner":"crc32""#: nil, #""topics":[]"#: "topics: must be an object",
            #""topics":{"results":1}"#: "topics.results: must be a string",
            #""topics":{"results":"a b"}"#: nil, #""topics":{"results":""}"#: nil,
            #""topics":{"results":".."}"#: nil,
            #""topics":{"results":"appattest.requests"}"#: "topics: two topics have the same name; give each its own",
            #""topics":{"replies":"appattest.tokens"}"#: "topics: two topics have the same name; give each its own",
            #""topics":{"receipts":"appattest.ledger"}"#: "topics: two topics have the same name",
            #""topics":{"replies":"a/b"}"#: "topics.replies: must be a topic name",
            #""topics":{"replies":""}"#: nil,
            #""partitioner":"murmur3""#: "partitioner: must be one of murmur2, crc32, unchecked",
            #""partitioner":null"#: nil,
            #""delivery":"exactlyOnce""#: "delivery: must be one of exactly-once, at-least-once",
            #""membership":"Static""#: "membership: must be one of static, dynamic", #""membership":1"#: nil,
            #""signingKeys":{}"#: "signingKeys: must be a list of objects",
            #""signingKeys":[1]"#: "signingKeys[0]: must be an object",
            #""signingKeys":[{"file":"f"}]"#: "signingKeys[0].kid: is required",
            #""signingKeys":[{"kid":"a"}]"#: "signingKeys[0]: must name where the key is: one of file, command, key",
            #""signingKeys":[{"kid":"a","file":"f","algorithm":"HS256"}]"#:
                "signingKeys[0].algorithm: must be one of RS256, ES256",
            #""signingKeys":[{"kid":"a","file":"f","use":"sig"}]"#: nil,
            #""signingKeys":[{"kid":"a","file":"f"},{"kid":"a","file":"g","state":"published"}]"#:
                "signingKeys[1].kid: appears twice; give each key its own",
            #""signingKeys":[{"kid":"a","file":"f"},{"kid":"b","file":"g"}]"#:
                "signingKeys[1].state: one RS256 key is already active; publish the other",
            #""sealingKeys":[{"id":"a","file":"f"},{"id":"a","file":"g"}]"#:
                "sealingKeys[1].id: appears twice; give each key its own",
            #""sealingKeys":[{"id":"","file":"f"}]"#: "sealingKeys[0].id: is required",
            #""challenges":{"mode":"open"}"#: "challenges.mode: must be one of sealed, external",
            #""challenges":{"ttl":"300"}"#: nil, #""challenges":{"ttl":300}"#: nil,
            #""challenges":{"ttl":"0s"}"#: nil,
            #""challenges":{"ttl":"-5s"}"#: nil, #""challenges":{"ttl":"5 s"}"#: nil,
            #""challenges":{"ttl":"1.5s"}"#: nil,
            #""challenges":{"ttl":"2d"}"#:
                #"challenges.ttl: must be a duration such as "300s", "5m" or "96h", from 1s to 1d"#,
            #""challenges":{"ttl":"99999999999999999999s"}"#: nil,
            #""challenges":{"ttl":"9223372036854775807h"}"#: nil,
            #""challenges":{"keys":[{"id":"a"}]}"#:
                "challenges.keys[0]: must name where the key is: one of file, command",
            #""clock":{"maxAge":"0s"}"#: nil, #""clock":{"maxAhead":"25h"}"#: nil,
            #""clock":{"maxage":"1s"}"#: nil,
            #""limits":{"valueBytes":0}"#: "limits.valueBytes: must be an integer from 1 to 16777216",
            #""limits":{"valueBytes":1e3}"#: nil, #""limits":{"clientDataHashBytes":"1"}"#: nil,
            #""limits":{"values":1}"#: nil,
            #""batch":{"records":0}"#: "batch.records: must be an integer from 1 to 1000000",
            #""batch":{"milliseconds":60001}"#: nil,
            #""batch":{"bytes":-1}"#: nil, #""lanes":-1"#: "lanes: must be an integer from 0 to 1024",
            #""lanes":1.0"#: nil,
            #""engine":{"name":"x"}"#: nil,
            #""engine":{"signingLibrary":"libcrypto_mb.so"}"#:
                "engine.signingLibrary: must be an absolute path, or empty",
            #""metrics":{"port":65536}"#: "metrics.port: must be an integer from 0 to 65535",
            #""metrics":{"address":"localhost"}"#:
                "metrics.address: must be an IP address in digits, such as 127.0.0.1",
            #""metrics":9100"#: nil, #""embeddedBroker":1"#: "embeddedBroker: must be true or false",
            #""lanes":1,"lanes":1"#: "lanes: appears twice; keep one", #""lanes":1,"l\u0061nes":1"#: nil,
            #""lanes":1025"#: "lanes: must be an integer from 0 to 1024, not 1025.",
            #""lanes":"many""#: #"lanes: must be an integer from 0 to 1024, not "many"."#,
            #""embeddedBroker":null"#: "embeddedBroker: must be true or false, not null.",
            #""log":{"level":"warn"}"#: #"log.level: must be one of debug, info, warning, error, not "warn"."#,
            #""log":{"format":"jsno"}"#: #"log.format: must be one of text, json, not "jsno": did you mean json?"#,
            #""clock":{"maxAge":"soon"}"#:
                #"clock.maxAge: must be a duration such as "300s", "5m" or "96h", from 1ms to 3650d, not "soon"."#,
            #""topics":{"requests":"a b"}"#: "topics.requests: must be a topic name: 1 to 249 letters, digits",
        ] as [String: String?]
    )
    func `a fault of worker.json names key, remedy and a wrong value`(_ members: String, _ message: String?) throws {
        let fault = try #require(try ConfigurationDirectory(worker: ConfigurationDirectory.worker(members)).fault())
        #expect(fault.hasPrefix("worker.json: "))
        if let message { #expect(fault.hasPrefix("worker.json: \(message)"), "\(fault)") }
    }

    @Test(
        arguments: [
            "{}": "worker.json: anchors: is required: list the attestation roots' PEM files under attestation.",
            #"{"anchors":{}}"#: nil, #"{"anchors":{"attestation":[]}}"#: nil, #"{"anchors":[]}"#: nil,
            #"{"anchors":{"attestation":"root.pem"}}"#: "worker.json: anchors.attestation: must be a list of strings.",
            #"{"anchors":{"attestation":[1]}}"#: nil,
            #"{"anchors":{"attestation":["none.pem"]}}"#:
                "cannot read DIR/none.pem: it is an anchor in worker.json; put the PEM file there.",
            #"{"anchors":{"attestation":["root.pem"],"receipt":["/nowhere/x.pem"]}}"#:
                "cannot read /nowhere/x.pem: it is an anchor in worker.json; put the PEM file there.",
        ] as [String: String?]
    )
    func `anchors are required, and their files must exist`(_ worker: String, _ message: String?) throws {
        let fault = try #require(try ConfigurationDirectory(worker: worker).fault())
        if let message { #expect(fault == message) }
    }

    @Test func `an app cannot set a longer hash than worker.json's limit`() throws {
        func fault(_ bytes: String, limit: Int) throws -> String? {
            let app = #"{"appId":"a","clientDataHash":{"bytes":\#(bytes)}}"#
            return try ConfigurationDirectory(
                worker: #"{"anchors":{"attestation":["root.pem"]},"limits":{"clientDataHashBytes":\#(limit)}}"#,
                apps: #"{"projects":[{"number":"1","apps":[\#(app)]}]}"#
            ).fault()
        }
        #expect(try fault("64", limit: 64) == nil)
        #expect(try fault(#""any""#, limit: 8) == nil)
        #expect(
            try fault("65", limit: 64)
                == "apps.json: app a: clientDataHash.bytes is 65, and worker.json's limits.clientDataHashBytes allows 64: "
                + "raise the limit or lower bytes."
        )
    }

    @Test func `a standby is a static member`() throws {
        func fault(_ members: String) throws -> String? {
            try ConfigurationDirectory(worker: ConfigurationDirectory.worker(members)).fault()
        }
        #expect(try fault(#""state":{"standby":true}"#) == nil)
        #expect(try fault(#""membership":"dynamic","state":{"standby":false}"#) == nil)
        #expect(
            try fault(#""membership":"dynamic","state":{"standby":true}"#)
                == "worker.json: state.standby is true and membership is dynamic: only static members have a lasting place in "
                + "the group; set membership to static, or state.standby to false."
        )
    }

    @Test func `an app keeps receipts only where a topic takes them`() throws {
        func fault(_ members: String, topics: String = #""receipts":"r""#) throws -> String? {
            try ConfigurationDirectory(
                worker: ConfigurationDirectory.worker(#""topics":{\#(topics)}"#),
                apps: ConfigurationDirectory.apps(members)
            ).fault()
        }
        let report = #""risk":{"mode":"report"}"#
        #expect(try fault(report) == nil)
        #expect(try fault(report + #","receipt":"require""#) == nil)
        #expect(try fault(#""risk":{"mode":"off"},"receipt":"ignore""#, topics: "") == nil)
        #expect(
            try fault(report, topics: "")
                == "apps.json: app a: risk.mode is report, and worker.json names no topic for receipts: set topics.receipts "
                + "and create it, or set risk.mode to off."
        )
        for above in ["1", "5", "65535"] {
            #expect(try fault(#""risk":{"mode":"refuse","above":\#(above)}"#) == nil)
            #expect(try fault(#""risk":{"above":\#(above)}"#, topics: "") == nil)
        }
    }

    @Test(
        arguments: [
            #""appleAppId":"x""#: nil, #""appleAppIds":"x""#: "appleAppIds: must be a list of strings",
            #""appleAppIds":["ABCDE12345.b",1]"#: "appleAppIds[1]: must be a string, not 1.",
            #""oauthClientIds":[null]"#: "oauthClientIds[0]: must be a string, not null.",
            #""environments":["production","sandbox"]"#:
                #"environments[1]: must be one of development, production, not "sandbox"."#,
            #""environments":[]"#: "environments: must list production, development or both",
            #""name":"""#: "name: must have 1 to 64 characters, not \"\".", #""name":5"#: "name: must be a string",
            #""name":"\#(String(repeating: "é", count: 65))""#: "name: must have 1 to 64 characters",
            #""tokenTtl":"29m""#: #"tokenTtl: must be a duration such as "300s", "5m" or "96h", from 30m to 7d"#,
            #""tokenTtl":"1799999ms""#: nil, #""tokenTtl":"169h""#: nil, #""tokenTtl":3600"#: nil,
            #""tokenLeeway":"30001ms""#: "tokenLeeway: must be a duration", #""tokenLeeway":"31s""#: nil,
            #""tokenLeeway":"-1s""#: nil, #""tokenLeeway":5"#: nil,
            #""tokenAlgorithm":"rs256""#: "tokenAlgorithm: must be one of RS256, ES256",
            #""sharedSessionTokens":"false""#: "sharedSessionTokens: must be true or false",
            #""categories":[2]"#: "categories: must be an object",
            #""categories":{"allow":["2"]}"#:
                #"categories.allow[0]: must be an integer from 0 to 4294967295, not "2"."#,
            #""categories":{"allow":[4294967296]}"#: nil, #""categories":{"allow":[-1]}"#: nil,
            #""categories":{"allow":2}"#: "categories.allow: must be a list of integers from 0 to 4294967295",
            #""categories":{"whenMissing":"deny"}"#: "categories.whenMissing: must be one of accept, refuse",
            #""bundleVersions":{"allow":[1]}"#: "bundleVersions.allow[0]: must be a string, not 1.",
            #""macOS":{"acl":"ignore"}"#: "macOS.acl: must be one of require, accept", #""macos":{}"#: nil,
            #""receipt":"maybe""#: "receipt: must be one of report, require, ignore",
            #""risk":{"above":0}"#: "risk.above: must be an integer from 1 to 65535", #""risk":{"above":-1}"#: nil,
            #""risk":{"above":65536}"#: nil, #""risk":{"above":1.5}"#: nil, #""risk":{"above":"5"}"#: nil,
            #""extensions":{"trust":"all"}"#: "extensions.trust: must be one of flagged, any",
            #""extensions":"any""#: "extensions: must be an object", #""extensions":{"Trust":"any"}"#: nil,
            #""clientDataHash":{"bytes":"all"}"#:
                #"clientDataHash.bytes: must be an integer from 1 to 65536, or "any""#,
            #""clientDataHash":{"bytes":0}"#: nil, #""clientDataHash":{"bytes":65537}"#: nil,
            #""clientDataHash":{"bytes":32.0}"#: nil, #""clientDataHash":{"bytes":"32"}"#: nil,
            #""clientDataHash":{"bytes":null}"#: nil, #""clientDataHash":32"#: "clientDataHash: must be an object",
            #""clientDataHash":{"length":32}"#: nil,
            #""unknownKeys":"accept""#: "unknownKeys: must be one of restore, refuse",
            #""attestationsPerSecond":-1"#: nil, #""attestationsPerSecond":0.5"#: nil,
            #""rollout":{"mode":"On"}"#: "rollout.mode: must be one of off, shadow, on",
            #""rollout":{"percent":101}"#:
                "rollout.percent: must be a number from 0 to 100 with at most six decimal places",
            #""rollout":{"percent":100.000001}"#: nil, #""rollout":{"percent":0.0000001}"#: nil,
            #""rollout":{"percent":-1}"#: nil,
            #""rollout":{"percent":1e1}"#: nil, #""rollout":{"percent":"10"}"#: "rollout.percent: must be a number",
            #""rollout":{"seed":"a b"}"#: nil, #""rollout":{"seed":"123456789012345678901234567890123"}"#: nil,
            #""rollout":{"always":["ab"]}"#:
                #"rollout.always[0]: must be a SHA-256 digest, 64 hexadecimal digits, not "ab"."#,
            #""rollout":{"never":["\#(String(repeating: "g", count: 64))"]}"#: nil,
            #""rollout":{"never":"x"}"#: nil,
            #""rollout":{"never":["\#(String(repeating: "é", count: 32))"]}"#: nil,
            #""appId":"b""#: "appId: appears twice; keep one",
        ] as [String: String?]
    )
    func `a fault of apps.json names the key and the remedy`(_ members: String, _ message: String?) throws {
        let fault = try #require(try ConfigurationDirectory(apps: ConfigurationDirectory.apps(members)).fault())
        #expect(fault.hasPrefix("apps.json: projects[0].apps[0]."))
        if let message { #expect(fault.hasPrefix("apps.json: projects[0].apps[0].\(message)"), "\(fault)") }
    }

    private static let digest = String(repeating: "0a", count: 32)
    private static let debugToken = #"{"sha256":"\#(digest)","name":"ci","until":"2027-01-31T00:00:00Z"}"#

    @Test(arguments: [
        (#"{"name":"ci","until":"2027-01-31T00:00:00Z"}"#, "sha256: must be a SHA-256 digest, 64 hexadecimal digits"),
        (debugToken.replacing("0a0a", with: "0a"), "sha256: must be a SHA-256 digest, 64 hexadecimal digits"),
        (debugToken.replacing(#""name":"ci","#, with: ""), "name: is required"),
        (debugToken.replacing("T00:00:00Z", with: ""), #"until: must be a time such as "2027-01-31T00:00:00Z""#),
        (debugToken.replacing("01-31", with: "02-31"), #"until: must be a time such as "2027-01-31T00:00:00Z""#),
        (debugToken.replacing("00Z", with: "00+02:00"), #"until: must be a time such as "2027-01-31T00:00:00Z""#),
        (debugToken.replacing(#","until":"2027-01-31T00:00:00Z""#, with: ""), "until: must be a time such as"),
    ])
    func `a debug token has a hash, a name and an end`(entry: String, message: String) throws {
        let members = #""environments":["development"],"debugTokens":[\#(entry)]"#
        let fault = try #require(try ConfigurationDirectory(apps: ConfigurationDirectory.apps(members)).fault())
        #expect(fault.hasPrefix("apps.json: projects[0].apps[0].debugTokens[0].\(message)"))
    }

    private static let besideProduction =
        "has debugTokens and accepts production; list development alone in environments."

    @Test(
        arguments: [
            #""rollout":{"always":["\#(digest)"],"never":["\#(digest.uppercased())"]}"#:
                "has a digest in both rollout.always and rollout.never; keep one of them.",
            #""risk":{"mode":"report"},"receipt":"ignore""#:
                "has risk.mode report and ignores receipts; set receipt to report or require.",
            #""risk":{"mode":"refuse"}"#:
                "has risk.mode refuse and no risk.above; set the greatest metric that is served.",
            #""debugTokens":[\#(debugToken)]"#: besideProduction,
            #""debugTokens":[\#(debugToken)],"environments":["production"]"#: besideProduction,
            #""debugTokens":[\#(debugToken)],"environments":["development","production"]"#: besideProduction,
        ] as [String: String]
    )
    func `settings of an app that contradict each other are refused`(members: String, problem: String) throws {
        let worker = ConfigurationDirectory.worker(#""topics":{"receipts":"r"}"#)
        let fault = try ConfigurationDirectory(worker: worker, apps: ConfigurationDirectory.apps(members)).fault()
        #expect(fault == "apps.json: projects[0].apps[0]: \(problem)")
    }

    @Test func `debug tokens are twenty at most, and none comes twice`() throws {
        func fault(_ members: String) throws -> String? {
            try ConfigurationDirectory(apps: ConfigurationDirectory.apps(members)).fault()
        }
        func list(_ count: Int) -> String {
            let entries = (10..<10 + count).map {
                Self.debugToken.replacing("0a0a0a0a", with: "0a0a0a\($0)", maxReplacements: 1)
            }
            return #""environments":["development"],"debugTokens":[\#(entries.joined(separator: ","))]"#
        }
        for count in [1, 20] { #expect(try fault(list(count)) == nil) }
        #expect(
            try fault(list(21))
                == "apps.json: projects[0].apps[0].debugTokens[20]: is more than 20 debug tokens; remove some."
        )
        let twice = #""environments":["development"],"debugTokens":[\#(Self.debugToken),\#(Self.debugToken)]"#
        #expect(
            try fault(twice) == "apps.json: projects[0].apps[0].debugTokens[1].sha256: appears twice; remove one."
        )
    }

    @Test(
        arguments: [
            #"{"projects":[{"apps":[]}]}"#: "apps.json: projects[0].number: is required.",
            #"{"projects":[{"number":1}]}"#: "apps.json: projects[0].number: must be a string, not 1.",
            #"{"projects":[{"number":"1","apps":[{}]}]}"#: "apps.json: projects[0].apps[0].appId: is required.",
            #"{"project":[]}"#:
                "apps.json: project: unknown key; known keys: projects, retired; did you mean projects?",
            #"{"projects":{}}"#: "apps.json: projects: must be a list of objects.",
            #"{"projects":[{"number":"1","name":"x"}]}"#:
                "apps.json: projects[0].name: unknown key; known keys: number, id, apps.",
            #"{"projects":[{"number":"1","apps":[{"appId":"a"},{"appId":"a"}]}]}"#:
                "apps.json: app a appears twice in project 1; keep one of them.",
            #"[]"#: "apps.json: must be an object.",
        ] as [String: String]
    )
    func `projects and apps need unique names`(_ text: String, _ message: String) throws {
        #expect(try ConfigurationDirectory(apps: text).fault() == message)
    }

    @Test func `invalid JSON is reported with its line and column`() throws {
        #expect(
            try ConfigurationDirectory(worker: "{\n  \"lanes\": 1,\n}").fault()
                == "worker.json: line 3, column 1: invalid JSON; fix it there."
        )
        #expect(
            try ConfigurationDirectory(apps: "").fault() == "apps.json: line 1, column 1: invalid JSON; fix it there."
        )
        let deep = String(repeating: "[", count: 100_000)
        #expect(try ConfigurationDirectory(worker: deep).fault()?.hasPrefix("worker.json: line 1, column 17:") == true)
    }

    @Test func `a file cut anywhere is refused, never trapped on`() throws {
        let worker = Array(ConfigurationDirectory.worker(#""clock":{"maxAge":"96h"},"lanes":10"#).utf8)
        let apps = Array(ConfigurationDirectory.apps(#""rollout":{"percent":10.5,"seed":"s1"}"#).utf8)
        let directory = try ConfigurationDirectory()
        for (name, text) in [("worker.json", worker), ("apps.json", apps)] {
            for end in text.indices {
                try directory.write(name, Array(text[..<end]))
                #expect(directory.fault()?.hasPrefix("\(name): line 1, column ") == true)
            }
            try directory.write(name, text)
            #expect(directory.fault() == nil)
        }
    }

    @Test func `a missing file is named`() throws {
        let directories = try [
            "worker.json: give the config directory a readable worker.json": ConfigurationDirectory(worker: nil),
            "apps.json: give the config directory a readable apps.json": ConfigurationDirectory(apps: nil),
            "kafka.properties: give the config directory a kafka.properties, an empty one for replay":
                ConfigurationDirectory(properties: nil),
        ]
        for (problem, directory) in directories { #expect(directory.fault() == "cannot read DIR/\(problem).") }
        let fault = try #require(throws: ConfigurationFault.self) { try Configuration.load(directory: "/nowhere") }
        #expect(fault.exitCode == 2)
    }
}

@Suite struct ConfigurationPropertiesTests {
    @Test func `properties are read in order, without comments and outer spaces`() throws {
        let text = "# a comment\n\n bootstrap.servers = a:1,b:2 \r\n\tsasl.password=x=y # z\nssl.ca.location=\n  #end"
        let properties = try ConfigurationDirectory(properties: text).load().kafkaProperties
        #expect(properties.map(\.name) == ["bootstrap.servers", "sasl.password", "ssl.ca.location"])
        #expect(properties.map(\.value) == ["a:1,b:2", "x=y # z", ""])
    }

    @Test(
        arguments: [
            "enable.auto.commit", "enable.auto.offset.store", "isolation.level", "transactional.id",
            "group.instance.id",
            "enable.idempotence", "acks", "request.required.acks", "partition.assignment.strategy", "auto.offset.reset",
            "max.in.flight.requests.per.connection", "test.mock.num.brokers", "topic.auto.offset.reset", "topic.acks",
            "plugin.library.paths", "ssl.engine.location", "ssl.engine.id", "sasl.kerberos.kinit.cmd",
            "topic.plugin.library.paths",
        ]
    )
    func `a property that breaks exactly-once, loads a library or runs a command is refused`(_ name: String) throws {
        let fault = try ConfigurationDirectory(properties: "group.id=g\n\(name)=x\n").fault()
        #expect(fault?.hasPrefix("kafka.properties: line 2: \(name): ") == true)
        #expect(fault?.contains("remove the line") == true)
        #expect(try ConfigurationDirectory(properties: "group.id=g\n#\(name)=x\n").fault() == nil)
    }

    @Test(
        arguments: [
            ("group.id", "kafka.properties: line 1: must be key=value or a comment that starts with #."),
            ("\n=x", "kafka.properties: line 2: must be key=value or a comment that starts with #."),
            ("a=1\nb=2\na=1", "kafka.properties: line 3: a appears twice; keep one."),
        ]
    )
    func `a line that is not a property is refused`(_ text: String, _ message: String) throws {
        #expect(try ConfigurationDirectory(properties: text).fault() == message)
    }

    @Test func `bytes that are no UTF-8 are refused`() throws {
        let directory = try ConfigurationDirectory()
        try directory.write("kafka.properties", [0x61, 0x3D, 0xFF])
        #expect(directory.fault() == "kafka.properties: has bytes that are not UTF-8; save it as UTF-8.")
    }
}
