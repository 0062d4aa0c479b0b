internal import AppAttest
internal import Crypto

extension AttestationFault {
    /// Faults of authenticator data up to the AAGUID, of the leaf's key and of access control.
    static let authenticatorDataRows: [AttestationFaultRow] = fixedPartRows + accessControlRows + keyRows

    private static let fixedPartRows: [AttestationFaultRow] = [
        .draft(.authDataEmpty, .malformedAuthData) { $0.authData.keep(0) },
        .draft(.authDataTruncated, .malformedAuthData) { $0.authData.keep(163) },
        .draft(.authDataOfAssertion, .malformedAuthData) { $0.authData.keep(37) },
        .draft(.flagsClear, .flags) { $0.authData.flags = 0 },
        .draft(.flagsOnlyED, .flags) {
            $0.announce(map: CBORBytes.map($0.device.entriesForFaults))
            $0.authData.flags = 0x80
        },
        .draft(.otherAppID, .appIDMismatch) { $0.authData.rpIDHash = AppID("0000000000.lab.other").rpIDHash.bytes },
        .draft(.appIDCase, .appIDMismatch) { $0.useAppID($0.device.appID.swappingCase()) },
        .draft(.appIDWithoutPrefix, .appIDMismatch) {
            $0.useAppID($0.device.appID.split(separator: ".").dropFirst().joined(separator: "."))
        },
        .draft(.counterOne, .counterNotZero) { $0.authData.counter = 1 },
        .draft(.counterMaximal, .counterNotZero) { $0.authData.counter = .max },
        .draft(.counterHighByte, .counterNotZero) { $0.authData.counter = 1 << 24 },
        .draft(.aaguidZero, .aaguidUnknown) { $0.authData.credential?.aaguid = zeros(16) },
        .draft(.aaguidSandbox, .aaguidUnknown) { $0.authData.credential?.aaguid = Array("appattestsandbox".utf8) },
        // Right in its first nine bytes only, which is all that some verifiers compare.
        .draft(.aaguidPrefix, .aaguidUnknown) {
            $0.authData.credential?.aaguid = Array("appattest\0\0\0\0\0\0\u{1}".utf8)
        },
        .draft(.aaguidShifted, .aaguidUnknown) {
            $0.authData.credential?.aaguid = Array("\0appattest\0\0\0\0\0\0".utf8)
        },
        .draft(.aaguidDevelopmentPrefix, .aaguidUnknown) {
            $0.authData.credential?.aaguid = Array("appattestdevelo\0".utf8)
        },
        .draft(.otherEnvironment, .environmentMismatch) {
            let other: Environment = $0.device.environment == .production ? .development : .production
            $0.authData.credential?.aaguid = FakeDevice.aaguid(other)
        },
    ]

    private static let accessControlRows: [AttestationFaultRow] = [
        .draft(.aclMissing, .aclMissing) { $0.leaf.remove(OID.accessControl) },
        .draft(.aclFlipped, .aclMismatch) {
            let policy = LeafExtensions.macPolicy.flippingLastBit()
            $0.leaf.replace(OID.accessControl, value: LeafExtensions.accessControl(policy))
        },
        .draft(.aclOfIPhone, .aclMismatch) {
            $0.leaf.replace(OID.accessControl, value: LeafExtensions.accessControl(LeafExtensions.iPhonePolicy))
        },
        .draft(.aclOtherTag, .aclMismatch) {
            let value = DER.sequence(DER.explicit(1, DER.octetString(LeafExtensions.macPolicy)))
            $0.leaf.replace(OID.accessControl, value: value)
        },
        .draft(.aclTrailingByte, .aclMismatch) {
            let value = LeafExtensions.accessControl(LeafExtensions.macPolicy)
            $0.leaf.replace(OID.accessControl, value: value + [0])
        },
    ]

    private static let keyRows: [AttestationFaultRow] = [
        .draft(.leafKeyP384, .keyType) {
            $0.leaf.publicKey = CertificateDraft.publicKeyInfo(curve: .p384, point: $0.device.ca.intermediate.key.x963)
        },
        .draft(.leafKeyCompressed, .keyType) {
            $0.leaf.publicKey = CertificateDraft.publicKeyInfo(curve: .p256, point: $0.device.key.compressed)
        },
        .draft(.leafKeyOffCurve, .keyType) {
            let point = $0.device.key.x963.flippingLastBit()
            $0.leaf.publicKey = CertificateDraft.publicKeyInfo(curve: .p256, point: point)
        },
        .draft(.leafKeyOtherCurveName, .keyType) {
            $0.leaf.publicKey = CertificateDraft.publicKeyInfo(curve: .p384, point: $0.device.key.x963)
        },
        .draft(.leafKeyOfOtherDevice, .keyIDMismatch) {
            $0.leaf.publicKey = CertificateDraft.publicKeyInfo(curve: .p256, point: $0.device.stranger.x963)
        },
    ]
}

extension AttestationDraft {
    fileprivate mutating func useAppID(_ text: String) { authData.rpIDHash = AppID(text).rpIDHash.bytes }
}

extension AuthDataDraft {
    /// Keeps only the first `count` bytes of the output.
    mutating func keep(_ count: Int) { replacement = Array(bytes.prefix(count)) }
}

extension String {
    func swappingCase() -> String {
        String(map { $0.isUppercase ? Character($0.lowercased()) : Character($0.uppercased()) })
    }
}
