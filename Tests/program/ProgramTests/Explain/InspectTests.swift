internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import Foundation
internal import JSON
internal import Settings
import TestKit
internal import Testing

@testable internal import Commands
@testable internal import Lab

@Suite("inspect")
struct InspectTests {
    private static let time = EvaluationTime(milliseconds: 1_795_176_000_000)
    private static let clientData = Array("what the app sent".utf8)
    private static let hash = SHA256.hash(clientData).bytes

    /// A folder with a lab's configuration, and a device of that lab.
    private struct Bench {
        let folder: SimulationFolder
        let device: FakeDevice

        init(_ shape: DeviceShape = .ios27_0_1) throws {
            folder = try SimulationFolder.configured()
            let ca = try NewConfiguration.authority(of: folder.config)
            device = FakeDevice(ca: ca, appID: "ABCDE12345.com.example.app", shape: shape, seed: 1)
        }

        func run(_ object: [UInt8], _ arguments: [String], asFile: Bool = true) throws -> Transcript {
            try folder.write(object, to: "object")
            let operand = asFile ? folder.file("object") : InspectTests.text(object)
            return try Transcript.done(["inspect"] + arguments + [operand])
        }

        func attestation(_ fault: AttestationFault? = nil) -> [UInt8] {
            device.attest(clientDataHash: InspectTests.hash, at: InspectTests.time, fault: fault)
        }

        var assertion: [UInt8] { device.assertion(clientDataHash: InspectTests.hash, counter: 7) }

        /// Sealed with the configuration's own key.
        func artifact(
            app: String = "projects/123456789012/apps/1:123456789012:ios:0123456789abcdef",
            environment: AppAttest.Environment = .production
        ) throws -> [UInt8] {
            let configuration = try Configuration.load(directory: folder.config)
            let key = try #require(try ExchangeKeys.load(configuration).rings.sealing.active)
            let artifact = Artifact(
                publicKey: device.publicKey,
                app: app,
                appleAppID: "ABCDE12345.com.example.app",
                environment: environment,
                registeredAt: InspectTests.time
            )
            return key.seal(artifact)
        }

        var config: [String] { ["--config", folder.config] }
        var all: [String] {
            config + [
                "--client-data-hash", InspectTests.text(InspectTests.hash), "--key-id", keyText,
                "--at", "\(InspectTests.time.milliseconds)", "--public-key", pointText,
            ]
        }

        var keyText: String { InspectTests.text(device.keyID.bytes) }
        var pointText: String { InspectTests.text(device.publicKey.x963) }

        /// Check name to result: `passed`, a reason, `not-reached`, or what it needs.
        func results(_ object: [UInt8], _ arguments: [String]) throws -> [String: String] {
            let root = try run(object, arguments + ["--json"]).json
            var results: [String: String] = [:]
            for check in root["checks"]?.elements ?? [] {
                let name = try #require(check["name"]?.string)
                let more = check["reason"] ?? check["needs"] ?? check["because"]
                results[name] = more?.string ?? check["result"]?.string
            }
            return results
        }

        /// A field of the report as JSON.
        func field(_ name: String, _ object: [UInt8], _ arguments: [String]) throws -> String? {
            let root = try run(object, arguments + ["--json"]).json
            return root["fields"]?.members.first { $0.name == Array(name.utf8) }?.value.string
        }
    }

    private let bench: Bench

    init() throws { bench = try Bench() }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }

    @Test(arguments: [DeviceShape.ios14_0, .ios18_5CDHash, .ios27_0_1, .macos27_0])
    func `with all arguments, every check of an honest object passes`(shape: DeviceShape) throws {
        let bench = try Bench(shape)
        for object in [bench.attestation(), bench.assertion] {
            #expect(Set(try bench.results(object, bench.all).values) == ["passed"])
        }
        let receipt = bench.device.receipt(.attest, clientDataHash: Self.hash, at: Self.time)
        let results = try bench.results(receipt, bench.all)
        #expect(results["signature"] == "passed" && results["client-hash-mismatch"] == "passed")
        #expect(results.filter { $0.value != "passed" }.keys.sorted() == ["missing", "too-old", "type"])
    }

    @Test func `without arguments a check lists the options that it needs`() throws {
        let transcript = try bench.run(bench.attestation(), bench.config)
        for line in [
            "dates                not checked: needs --at",
            "nonce                not checked: needs --client-data-hash or --client-data",
            "key                  not checked: needs --key-id",
            "chain                passed",
            "app ID               passed",
        ] { #expect(transcript.output.contains(line)) }
        let results = try bench.results(bench.assertion, [])
        #expect(results["signature"] == "--public-key" && results["app ID"] == "--app-id or --config")
        let output = try bench.run(bench.assertion, []).output
        #expect(output.contains("authData.counter                                  7"))
    }

    @Test(
        arguments: [
            (AttestationFault.leafExpired, "dates", "expired-or-not-yet-valid:leaf"),
            (.leafByOtherKey, "chain", "chain"), (.nonceFlipped, "nonce", "nonce-mismatch"),
            (.otherAppID, "app ID", "app-id-mismatch"), (.counterOne, "counter", "counter-not-zero"),
            (.coseKeyFlipped, "COSE key", "cose-key-mismatch"), (.truncated, "object", "malformed-attestation"),
        ]
    )
    func `a faulty attestation shows its reason at its check, and which checks were not reached`(
        fault: AttestationFault,
        check: String,
        reason: String
    ) throws {
        let object = bench.attestation(fault)
        let results = try bench.results(object, bench.all)
        #expect(results[check] == reason)
        #expect(results["bundle version"] == "not-reached")
        #expect(try bench.run(object, bench.all).output.hasSuffix("refused: \(reason)\n"))
    }

    @Test func `a report shows whether the extension map counts, and why`() throws {
        for (shape, announced) in [(DeviceShape.ios27_0_1, true), (.ios27_0, false)] {
            let bench = try Bench(shape)
            func trust(_ object: [UInt8], _ arguments: [String]) throws -> String? {
                try bench.field("extensions", object, arguments)
            }
            let (attestation, assertion) = (bench.attestation(), bench.assertion)
            let byReceipt = "count: ED is clear, but the verified receipt has this client data hash"
            let open = "count only where the verified receipt has the client data hash: ED is clear"
            let clear = "do not count: ED is clear, and extensions.trust is flagged"
            #expect(try trust(attestation, bench.all) == (announced ? "count: ED is set" : byReceipt))
            #expect(try trust(attestation, bench.config) == (announced ? "count: ED is set" : open))
            #expect(try trust(assertion, bench.all) == (announced ? "count: ED is set" : clear))
            let forged = bench.attestation(.mapForged)
            #expect(try trust(forged, bench.all) == open)
            #expect(try bench.results(forged, bench.all)["receipt"] == "receipt:client-hash-mismatch")
            let unvouched = bench.attestation(.mapUnvouched)
            #expect(try trust(unvouched, bench.all)?.hasPrefix("do not count: ED is clear, and no verified") == true)
            let old = bench.attestation(.mapOfOldSystem)
            #expect(try bench.results(old, bench.all)["extension map"] == "extensions-not-expected")
        }
        let bench = try Bench(.ios26_3)
        #expect(try bench.field("extensions", bench.attestation(), bench.all) == nil)
    }

    @Test func `a hash whose length the app refuses is reported`() throws {
        let hash = [UInt8](repeating: 7, count: 21)
        let assertion = bench.device.assertion(clientDataHash: hash, counter: 7)
        func note(_ hash: [UInt8]) throws -> String? {
            try bench.field("clientDataHash", assertion, bench.config + ["--client-data-hash", Self.text(hash)])
        }
        #expect(try note(hash)?.hasPrefix("21 bytes: without clientDataHash.bytes in apps.json") == true)
        #expect(try note(Self.hash) == nil)
    }

    @Test func `wrong arguments fail their checks`() throws {
        let other = try Bench(.ios26_1)
        let attestation = bench.attestation()
        let otherKey = bench.config + ["--key-id", other.keyText]
        #expect(try bench.results(attestation, otherKey)["key"] == "keyid-mismatch")
        #expect(try bench.results(attestation, bench.config + ["--app-id", "X"])["app ID"] == "app-id-mismatch")
        #expect(try bench.results(attestation, other.config)["chain"] == "chain")
        #expect(try bench.results(attestation, [])["chain"] == "chain", "a lab's device has no chain to Apple's roots")
        let late = bench.config + ["--at", "2027-11-20T12:00:00Z"]
        #expect(try bench.results(attestation, late)["dates"] == "expired-or-not-yet-valid:leaf")
        let hash = ["--client-data-hash", Self.text(Array(repeating: 0, count: 32)), "--public-key", bench.pointText]
        #expect(try bench.results(bench.assertion, hash)["signature"] == "signature-invalid")
    }

    @Test func `the object may be base64 on the command line or in a file; client data may be a file`() throws {
        let assertion = bench.assertion
        let plain = try bench.run(assertion, bench.config).output
        #expect(try bench.run(assertion, bench.config, asFile: false).output == plain)
        let urlText = String(decoding: Base64.encodeURL(assertion), as: UTF8.self)
        let url = try Transcript.done(["inspect"] + bench.config + [urlText]).output
        #expect(url == plain && !urlText.contains("="))
        let wrapped: [UInt8] = Base64.encode(assertion).enumerated().flatMap { $0 % 64 == 63 ? [$1, 10] : [$1] }
        #expect(try bench.run(wrapped, bench.config).output == plain)
        try bench.folder.write(Self.clientData, to: "client-data")
        let arguments = ["--client-data", bench.folder.file("client-data"), "--public-key", bench.pointText]
        #expect(try bench.results(assertion, arguments)["signature"] == "passed")
    }

    @Test func `hex is read as hex, in a file and on the line, and the report says so`() throws {
        let object = bench.attestation()
        let plain = try bench.run(object, bench.config).output
        #expect(plain.hasPrefix("attestation\n"))
        let hex = object.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
        let texts = [
            hex.joined(), hex.joined().uppercased(), hex.joined(separator: ":"), "0x" + hex.joined(separator: "\n"),
        ]
        for text in texts {
            let read = try bench.run(Array(text.utf8), bench.config).output
            #expect(read == "attestation, read as hex" + plain.dropFirst("attestation".count))
        }
        #expect(try bench.run(Array(texts[0].utf8), ["--json"]).json["readAs"]?.string == "hex")
        // An artifact's base64, which has no hex in it.
        #expect(try bench.run(bench.artifact(), bench.config, asFile: false).output.hasPrefix("artifact\n"))
    }

    @Test(
        arguments: [DeviceShape.ios14_0, .ios27_0_1]
    )
    func `truncated and damaged objects are explained as far as they can be read`(shape: DeviceShape) throws {
        let bench = try Bench(shape)
        let objects = [
            bench.attestation(), bench.assertion,
            bench.device.receipt(.receipt, clientDataHash: Self.hash, at: Self.time),
        ]
        var random = SeededRandom(seed: 5)
        for object in objects {
            for _ in 0..<40 {
                var damaged = object
                // The first bytes say what it is.
                damaged[Int.random(in: 24..<object.count, using: &random)] ^= 1
                let end = Int.random(in: 400..<1000, using: &random)
                if Bool.random(using: &random) { damaged = Array(damaged.prefix(max(end, object.count / 2))) }
                let output = try bench.run(damaged, bench.all).output
                #expect(output.contains("checks"))
            }
        }
    }

    @Test
    func `an artifact is opened with the configuration's keys; without one its clear part is shown`() throws {
        let artifact = try bench.artifact()
        let opened = try bench.run(artifact, bench.config + ["--key-id", bench.keyText]).output
        for line in [
            "recordKey     \(bench.keyText)",
            "app           projects/123456789012/apps/1:123456789012:ios:0123456789abcdef",
            "appleAppId    ABCDE12345.com.example.app", "environment   production",
            "registeredAt  2026-11-20T12:00:00Z",
        ] { #expect(opened.contains(line), "\(opened)") }
        let everything = try bench.results(artifact, bench.config + ["--key-id", bench.keyText])
        #expect(everything.keys.sorted() == ["app", "environment", "key", "seal", "sealing key"])
        #expect(Set(everything.values) == ["passed"])
        #expect(try bench.run(artifact, bench.config).output == bench.run(artifact, bench.config, asFile: false).output)
        let clear = try bench.run(artifact, []).output
        #expect(clear.contains("recordKey     \(bench.keyText)") && !clear.contains("registeredAt"))
        #expect(try bench.results(artifact, [])["seal"] == "--config")
    }

    @Test
    func `an artifact of another key, app, environment, ring or of changed bytes fails its check`() throws {
        let other = try Bench(.ios26_1)
        let artifact = try bench.artifact()
        let results = try bench.results(artifact, bench.config + ["--key-id", other.keyText])
        #expect(results["key"] == "key-mismatch" && results["seal"] == "not-reached")
        #expect(try bench.results(artifact, other.config)["sealing key"] == "sealing-key-unknown")
        #expect(try bench.results(try bench.artifact(app: "projects/1/apps/2"), bench.config)["app"] == "unknown-app")
        let development = try bench.artifact(environment: .development)
        #expect(try bench.results(development, bench.config)["environment"] == "artifact-invalid")
        // The clear key ID, the nonce, the sealed part, the tag.
        for index in [1, 40, 60, artifact.count - 1] {
            var damaged = artifact
            damaged[index] ^= 1
            #expect(try bench.results(damaged, bench.config)["seal"] == "artifact-invalid", "byte \(index)")
        }
        #expect(try bench.results(Array(artifact.dropLast()), bench.config)["seal"] == "artifact-invalid")
    }

    @Test func `the built-in roots are those in Config`() throws {
        let root = PackageFolder.url
        func shipped(_ name: String) throws -> String {
            try String(contentsOf: root.appending(path: "Config/anchors/\(name)"), encoding: .utf8)
        }
        #expect(AppleRoots.attestationPEM == (try shipped("Apple_App_Attestation_Root_CA.pem")))
        #expect(AppleRoots.receiptPEM == (try shipped("Apple_Root_CA_G3.pem")))
    }
}
