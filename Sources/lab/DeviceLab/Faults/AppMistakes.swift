internal import AppAttest
internal import Crypto
internal import JSON

extension AppMistake {
    package static let all = ofHash + ofText + ofJSON + ofArtifact + ofObjects + ofNames

    // MARK: What the device signs

    private static let signed: [ObjectReport.Kind: Refusal] = [
        .attestation: .nonceMismatch, .assertion: .signatureInvalid,
    ]

    private static let ofHash: [AppMistake] = [
        AppMistake("hash-of-hash", signed, .hash { hash, _, _ in SHA256.hash(hash).bytes }),
        AppMistake("no-hash", signed, .hash { _, artifact, data in artifact + data }),
        AppMistake("base64-of-hash", signed, .hash { hash, _, _ in Base64.encode(hash) }),
        AppMistake("base64-of-hash", signed, .hash { hash, _, _ in SHA256.hash(Base64.encodeURL(hash)).bytes }),
        AppMistake("hex-of-hash", signed, .hash { hash, _, _ in Array(Hexadecimal.encode(hash).utf8) }),
        AppMistake("hex-of-hash", signed, .hash { hash, _, _ in SHA256.hash(hexText(hash)).bytes }),
        AppMistake("nothing-hashed", signed, .hash { _, _, _ in SHA256.hash([]).bytes }),
    ]

    private static let ofText: [AppMistake] = [
        AppMistake("base64-text", signed, .data { Base64.encode($0) }),
        AppMistake("base64-text", signed, .data { Base64.encodeURL($0) }),
        AppMistake("base64-text", signed, .data { Base64.encodeURL($0) + Array("=".utf8) }),
        AppMistake("base64-text", signed, .data { Array(Base64.encode($0).dropLast()) }),
        AppMistake("base64-decoded", signed, clientData: Base64.encodeURL(challenge), .data { _ in challenge }),
        AppMistake("hex-text", signed, .data { hexText($0) }),
        AppMistake("hex-text", signed, .data { Array(Hexadecimal.encode($0).utf8) }),
        AppMistake("hex-decoded", signed, clientData: hexText(challenge), .data { _ in challenge }),
        AppMistake("quotes", signed, clientData: text("round 7"), .data { _ in text(#""round 7""#) }),
        AppMistake("quotes", signed, clientData: text(#""round 7""#), .data { _ in text("round 7") }),
        AppMistake("line-end", signed, clientData: text("round 7"), .data { $0 + [0x0A] }),
        AppMistake("line-end", signed, clientData: text("round 7"), .data { $0 + [0x0D, 0x0A] }),
        AppMistake("line-end", signed, clientData: text("round 7\n\n"), .data { _ in text("round 7") }),
        AppMistake("line-end", signed, clientData: text("round 7\r\n"), .data { _ in text("round 7\n") }),
        AppMistake("letter-case", signed, clientData: text("C0FFEE-x"), .data { _ in text("c0ffee-x") }),
        AppMistake("letter-case", signed, clientData: text("c0ffee-é"), .data { _ in text("C0FFEE-é") }),
        AppMistake("text-of-hash", signed, clientData: hexText(hash), .hash { _, _, _ in hash }),
        other("uuid-form", text(uuid), uuidBytes), other("uuid-form", uuidBytes, text(uuid.uppercased())),
        other("uuid-form", text(uuid), text(uuid.split(separator: "-").joined())),
        other("base64-form", Base64.encodeURL(challenge), Base64.encode(challenge)),
        other("base64-form", Base64.encode(challenge), Base64.encodeURL(challenge)),
        other("percent-encoding", text("a+b/c é"), text("a%2Bb%2Fc%20%C3%A9")),
        other("percent-encoding", text("a+b%2fc%"), text("a b/c%")),
        other("parts-order", challenge + text("body"), text("body") + challenge),
        other("parts-order", text("body") + challenge, challenge + text("body")),
    ]

    private static let hash = SHA256.hash(challenge).bytes
    private static let uuid = "fbffbf01-0203-0405-0607-08090a0b0c0d"
    private static let uuidBytes = Array(challenge.prefix(16))

    private static func other(_ name: String, _ sent: [UInt8], _ hashed: [UInt8]) -> AppMistake {
        AppMistake(name, signed, clientData: sent, .data { _ in hashed })
    }

    private static let ofJSON: [AppMistake] = [
        json("json-compact", sent: #"{ "user":"a\/b", "id": 7.50 }"#, #"{"user":"a/b","id":7.50}"#),
        json("json-sorted", sent: plain, #"{"challenge":"-_-_","id":7,"user":"a/b"}"#),
        json("json-spaced", sent: plain, #"{"user": "a/b", "id": 7, "challenge": "-_-_"}"#),
        json("json-spaced", sent: plain, #"{"challenge": "-_-_", "id": 7, "user": "a/b"}"#),
        json("json-slashes", sent: plain, #"{"user":"a\/b","id":7,"challenge":"-_-_"}"#),
        json("json-slashes", sent: plain, #"{"challenge":"-_-_","id":7,"user":"a\/b"}"#),
        json(
            "json-pretty",
            sent: #"{"user":"a","ids":[1,[]]}"#,
            "{\n  \"user\": \"a\",\n  \"ids\": [\n    1,\n    []\n  ]\n}"
        ),
        json("json-pretty", sent: #"{"b":1,"a":2}"#, "{\n  \"a\" : 2,\n  \"b\" : 1\n}"),
        json("json-unicode", sent: #"{"user":"Zoë😀"}"#, #"{"user":"Zo\u00eb\ud83d\ude00"}"#),
        json("json-unicode", sent: #"{"user":"Zoë","a":1}"#, #"{"a": 1, "user": "Zo\u00eb"}"#),
        json("json-challenge", sent: plain, "-_-_"),
        AppMistake("json-challenge", signed, clientData: text(plain), .data { _ in [0xFB, 0xFF, 0xBF] }),
        AppMistake("json-wrapper", signed, .data { text(#"{"challenge":""#) + Base64.encode($0) + text(#""}"#) }),
        json("json-wrapper", sent: "round 7", #"{"challenge":"round 7"}"#),
    ]

    private static let plain = #"{"user":"a/b","id":7,"challenge":"-_-_"}"#

    private static func json(_ name: String, sent: String, _ signs: String) -> AppMistake {
        AppMistake(name, signed, clientData: text(sent), .data { _ in text(signs) })
    }

    private static let ofArtifact: [AppMistake] = [
        artifact("challenge-alone") { _, data in data },
        artifact("challenge-first") { artifact, data in data + artifact },
        artifact("artifact-text") { artifact, data in Base64.encode(artifact) + data },
        artifact("artifact-text") { artifact, data in Base64.encodeURL(artifact) + Base64.encodeURL(data) },
    ]

    private static func artifact(
        _ name: String,
        _ hashed: @escaping @Sendable (_ artifact: [UInt8], _ data: [UInt8]) -> [UInt8]
    ) -> AppMistake {
        AppMistake(
            name,
            [.assertion: .signatureInvalid],
            hasArtifact: true,
            .hash { _, artifact, data in SHA256.hash(hashed(artifact, data)).bytes }
        )
    }

    // MARK: How the object is sent

    private static let misread: [ObjectReport.Kind: Refusal] = [
        .attestation: .malformedAttestation, .assertion: .malformedAssertion,
    ]

    private static let ofObjects: [AppMistake] =
        [
            sent { Base64.encode($0) }, sent { Base64.encodeURL($0) }, sent { hexText($0) },
            // Hex digits are base64 too, and their number may even fit.
            sent { Base64.decode(Array(Hexadecimal.encode($0).utf8)) ?? hexText($0) },
        ] + [
            AppMistake("other-object", misread, .otherKind),
            signature("signature-raw") { $0.r + $0.s },
            signature("signature-text") { Base64.encode($0.der) },
            signature("signature-text") { hexText($0.der) },
            authData { Base64.encode($0) }, authData { hexText($0) },
        ]

    private static func sent(_ edit: @escaping @Sendable ([UInt8]) -> [UInt8]) -> AppMistake {
        AppMistake(
            "object-text",
            misread,
            .objects(.bytes("object-text") { $0 = edit($0) }, .bytes("object-text") { $0 = edit($0) })
        )
    }

    private static func signature(_ name: String, _ edit: @escaping @Sendable (LabSignature) -> [UInt8]) -> AppMistake {
        AppMistake(name, [.assertion: .signatureInvalid], .objects(nil, .signature(name, .signatureInvalid, edit)))
    }

    private static func authData(_ edit: @escaping @Sendable ([UInt8]) -> [UInt8]) -> AppMistake {
        let name = "authdata-text"
        return AppMistake(
            name,
            [.attestation: .nonceMismatch, .assertion: .malformedAssertion],
            .objects(
                .parts(name, .nonceMismatch) { $0.authData = edit($0.authData) },
                .parts(name, .malformedAssertion) { $0.authData = edit($0.authData) }
            )
        )
    }

    // MARK: What the request names

    private static let ofNames: [AppMistake] = [
        keyID("key-id-of-text") { SHA256.hash(Base64.encode($0.keyID.bytes)).bytes },
        keyID("key-id-of-text") { SHA256.hash($0.keyID.bytes).bytes },
        keyID("key-id-of-other-form") { SHA256.hash(Array($0.publicKey.x963.dropFirst())).bytes },
        keyID("key-id-of-other-form") { SHA256.hash($0.key.compressed).bytes },
        keyID("key-id-of-other-form") {
            SHA256.hash(CertificateDraft.publicKeyInfo(curve: .p256, point: $0.publicKey.x963)).bytes
        },
        keyID("key-id-of-other-key") { SHA256.hash($0.stranger.x963).bytes },
        appID("app-id-without-prefix") { bundleID($0) },
        appID("app-id-other-prefix", [.attestation]) { "OTHER12345." + bundleID($0) },
        appID("app-id-of-extension") { $0 + ".Clip" },
        appID("app-id-of-extension", [.attestation]) { $0 + ".share" },
        appID("app-id-letter-case") { $0.lowercased() },
        appID("app-id-of-other-app") { _ in otherAppID },
        AppMistake("development-object", [.attestation: .environmentMismatch], .environment(.development)),
        AppMistake("production-object", [.attestation: .environmentMismatch], .environment(.production)),
    ]

    /// The App ID of another app that is configured.
    package static let otherAppID = "ABCDE12345.com.example.other"

    private static func keyID(_ name: String, _ make: @escaping @Sendable (FakeDevice) -> [UInt8]) -> AppMistake {
        AppMistake(name, [.attestation: .keyIDMismatch], .keyID(make))
    }

    /// - Parameter kinds: the kinds of objects that say so.
    private static func appID(
        _ name: String,
        _ kinds: [ObjectReport.Kind] = [.attestation, .assertion],
        _ change: @escaping @Sendable (String) -> String
    ) -> AppMistake {
        let expected = kinds.map { ($0, Refusal.appIDMismatch) }
        return AppMistake(name, Dictionary(uniqueKeysWithValues: expected), .appID(change))
    }

    private static func bundleID(_ appID: String) -> String {
        appID.split(separator: ".").dropFirst().joined(separator: ".")
    }

    private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
    /// In capitals.
    private static func hexText(_ bytes: [UInt8]) -> [UInt8] { Array(Hexadecimal.encode(bytes).uppercased().utf8) }
}
