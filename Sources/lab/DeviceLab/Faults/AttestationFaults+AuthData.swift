internal import AppAttest
internal import Crypto

extension AttestationFault {
    /// Faults of authenticator data up to the extension map, of the leaf's key and of access control.
    static let authDataRows: [Self] =
        fixedPartRows + accessControlRows.map { $0.on(\.isMac) } + keyRows + appIDRows + counterRows + aaguidRows
        + credentialRows

    private static let fixedPartRows: [Self] = [
        .draft("authdata-empty", .malformedAuthData) { $0.authData.keep(0) },
        .draft("authdata-truncated", .malformedAuthData) { $0.authData.keep(163) },
        .draft("authdata-of-assertion", .malformedAuthData) { $0.authData.keep(37) },
        .draft("flags-clear", .flags) { $0.authData.flags = 0 },
        .draft("flags-only-ed", .flags) {
            $0.announce(map: CBORBytes.map($0.device.entriesForFaults))
            $0.authData.flags = 0x80
        },
    ]

    private static let accessControlRows: [Self] = [
        .draft("acl-missing", .aclMissing) { $0.leaf.remove(OID.accessControl) },
        accessControl("acl-flipped") { LeafExtensions.accessControl($0.flippingLastBit()) },
        accessControl("acl-of-iphone") { _ in LeafExtensions.accessControl(LeafExtensions.iPhonePolicy) },
        accessControl("acl-other-tag") { DER.sequence(DER.explicit(1, DER.octetString($0))) },
        accessControl("acl-trailing-byte") { LeafExtensions.accessControl($0) + [0] },
    ]

    /// Another extension value, made of the policy of Macs.
    private static func accessControl(_ name: String, _ value: @escaping @Sendable ([UInt8]) -> [UInt8]) -> Self {
        .draft(name, .aclMismatch) { $0.leaf.replace(OID.accessControl, value: value(LeafExtensions.macPolicy)) }
    }

    private static let keyRows: [Self] = [
        leafKey("leaf-key-p384", .p384) { $0.ca.intermediate.key.x963 },
        leafKey("leaf-key-compressed") { $0.key.compressed },
        leafKey("leaf-key-off-curve") { $0.key.x963.flippingLastBit() },
        leafKey("leaf-key-other-curve-name", .p384) { $0.key.x963 },
        leafKey("leaf-key-of-other-device", .p256, .keyIDMismatch) { $0.stranger.x963 },
    ]

    private static func leafKey(
        _ name: String,
        _ curve: LabCurve = .p256,
        _ expected: Refusal = .keyType,
        _ point: @escaping @Sendable (FakeDevice) -> [UInt8]
    ) -> Self {
        .draft(name, expected) {
            $0.leaf.publicKey = CertificateDraft.publicKeyInfo(curve: curve, point: point($0.device))
        }
    }

    private static let counterRows: [Self] = [
        appID("app-id-without-prefix") { $0.split(separator: ".").dropFirst().joined(separator: ".") },
        .draft("counter-one", .counterNotZero) { $0.authData.counter = 1 },
        .draft("counter-maximal", .counterNotZero) { $0.authData.counter = .max },
        .draft("counter-high-byte", .counterNotZero) { $0.authData.counter = 1 << 24 },
    ]

    private static let aaguidRows: [Self] = [
        aaguid("aaguid-zero", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        aaguid("aaguid-sandbox", "appattestsandbox"),
        // Right in its first nine bytes only, which is all that some verifiers compare.
        aaguid("aaguid-prefix", "appattest\0\0\0\0\0\0\u{1}"),
        aaguid("aaguid-shifted", "\0appattest\0\0\0\0\0\0"),
        aaguid("aaguid-development-prefix", "appattestdevelo\0"),
        credential("other-environment", .environmentMismatch) { credential, device in
            credential.aaguid = FakeDevice.aaguid(device.environment == .production ? .development : .production)
        }.under(.environment),
    ]

    private static func aaguid(_ name: String, _ text: String) -> Self {
        credential(name, .aaguidUnknown) { credential, _ in credential.aaguid = Array(text.utf8) }
    }

    private static let credentialRows: [Self] = [
        credential("credential-id-length-31", .credentialIDLength) { credential, _ in credential.idLength = 31 },
        credential("credential-id-length-33", .credentialIDLength) { credential, _ in credential.idLength = 33 },
        credential("credential-id-length-zero", .credentialIDLength) { credential, _ in credential.idLength = 0 },
        credential("credential-id-length-swapped", .credentialIDLength) { credential, _ in
            credential.idLength = 0x2000
        },
        credential("credential-id-flipped", .credentialIDMismatch) { $0.id = $1.keyID.bytes.flippingLastBit() },
        credential("credential-id-of-other-device", .credentialIDMismatch) {
            $0.id = SHA256.hash($1.stranger.x963).bytes
        },
        credential("cose-key-of-other-device", .coseKeyMismatch) {
            $0.coseKey = CredentialDraft.coseKey($1.stranger.x963)
        },
        credential("cose-key-flipped", .coseKeyMismatch) {
            $0.coseKey = CredentialDraft.coseKey($1.key.x963.flippingLastBit())
        },
        // Algorithm −8, EdDSA, and curve 2, P-384.
        credential("cose-key-other-algorithm", .coseKeyMismatch) { credential, _ in credential.coseKey[4] = 0x27 },
        credential("cose-key-other-curve", .coseKeyMismatch) { credential, _ in credential.coseKey[6] = 0x02 },
    ]

    private static func credential(
        _ name: String,
        _ expected: Refusal,
        _ edit: @escaping @Sendable (inout CredentialDraft, FakeDevice) -> Void
    ) -> Self {
        .draft(name, expected) {
            guard var credential = $0.authData.credential else { return }
            edit(&credential, $0.device)
            $0.authData.credential = credential
        }
    }
}

extension AuthDataDraft {
    mutating func keep(_ count: Int) { replacement = Array(bytes.prefix(count)) }
}
