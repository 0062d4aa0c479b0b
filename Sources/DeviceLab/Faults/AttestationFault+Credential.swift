internal import AppAttest
internal import Crypto

extension AttestationFault {
    /// Faults of the credential: its ID and its COSE key.
    static let credentialRows: [AttestationFaultRow] = [
        .draft(.credentialIDLength31, .credentialIDLength) { $0.authData.credential?.idLength = 31 },
        .draft(.credentialIDLength33, .credentialIDLength) { $0.authData.credential?.idLength = 33 },
        .draft(.credentialIDLengthZero, .credentialIDLength) { $0.authData.credential?.idLength = 0 },
        .draft(.credentialIDLengthSwapped, .credentialIDLength) { $0.authData.credential?.idLength = 0x2000 },
        .draft(.credentialIDFlipped, .credentialIDMismatch) {
            $0.authData.credential?.id = $0.device.keyID.bytes.flippingLastBit()
        },
        .draft(.credentialIDOfOtherDevice, .credentialIDMismatch) {
            $0.authData.credential?.id = SHA256.hash($0.device.stranger.x963).bytes
        },
        .draft(.coseKeyOfOtherDevice, .coseKeyMismatch) {
            $0.authData.credential?.coseKey = CredentialDraft.coseKey($0.device.stranger.x963)
        },
        .draft(.coseKeyFlipped, .coseKeyMismatch) {
            $0.authData.credential?.coseKey = CredentialDraft.coseKey($0.device.key.x963.flippingLastBit())
        },
        // Algorithm −8, EdDSA, and curve 2, P-384.
        .draft(.coseKeyOtherAlgorithm, .coseKeyMismatch) { $0.authData.credential?.coseKey[4] = 0x27 },
        .draft(.coseKeyOtherCurve, .coseKeyMismatch) { $0.authData.credential?.coseKey[6] = 0x02 },
    ]

    /// Faults of the extension map and of an app's policy on it.
    static let entryRows: [AttestationFaultRow] = mapRows + entryTypeRows + policyRows

    private static let mapRows: [AttestationFaultRow] = [
        extensions(.restGarbage) { $0 = [0xFF, 0xFF] },
        extensions(.restTrailingByte) { $0.append(0) },
        extensions(.restTwoMaps) { $0 += $0 },
        extensions(.restNotMap) { $0 = CBORBytes.array([$0]) },
        extensions(.restTruncated) { $0.removeLast() },
        extensions(.restIndefinite, CBORDamage.indefinite),
        extensions(.restTagged, CBORDamage.tag),
        entries(.restDuplicateEntry) { $0.append($0[0]) },
        .draft(.mapCutOff, .malformedAttestation) { $0.authData.announce(map: []) },
        .draft(.mapOfOldSystem, .extensionsNotExpected) {
            $0.authData.announce(map: CBORBytes.map($0.device.entriesForFaults))
            $0.nameOldSystem()
        },
        // For a caller that puts the map before the hash; with the hash alone it is no longer Apple's nonce.
        AttestationFaultRow(.mapMoved, .malformedAttestation, .parts { $0.authData = Array($0.authData.prefix(164)) }),
        .draft(.mapForged, .receipt(.clientHash)) { $0.forge(map: CBORBytes.map($0.device.entriesForFaults)) },
    ]

    private static let entryTypeRows: [AttestationFaultRow] = [
        entries(.categoryAsText) { $0.setCategory(CBORBytes.text("4")) },
        entries(.categoryThreeBytes) { $0.setCategory(CBORBytes.bytes([4, 0, 0])) },
        entries(.categoryFiveBytes) { $0.setCategory(CBORBytes.bytes([4, 0, 0, 0, 0])) },
        entries(.categoryTooBig) { $0.setCategory(CBORBytes.unsigned(1 << 32)) },
        entries(.categoryNegative) { $0.setCategory([0x23]) },
        entries(.bundleVersionAsBytes) { $0.setBundleVersion(CBORBytes.bytes(Array("1314".utf8))) },
        entries(.bundleVersionAsNumber) { $0.setBundleVersion(CBORBytes.unsigned(1314)) },
    ]

    private static let policyRows: [AttestationFaultRow] = [
        entries(.categoryMissing, .categoryMissing) { $0.removeCategory() },
        // 9 is reserved and never appropriate.
        entries(.categoryOther, .categoryNotAllowed) { $0.setCategory(ExtensionEntries.littleEndian(9)) },
        entries(.categoryBigEndian, .categoryNotAllowed) { $0.setCategory(CBORBytes.bytes([0, 0, 0, 4])) },
        entries(.bundleVersionMissing, .bundleVersionMissing) { $0.removeBundleVersion() },
        entries(.bundleVersionOther, .bundleVersionNotAllowed) { $0.setBundleVersion(CBORBytes.text("0")) },
        .draft(.mapUnvouched, .categoryMissing) {
            $0.forge(map: CBORBytes.map($0.device.entriesForFaults))
            $0.hasReceipt = false
        },
        AttestationFaultRow(.receiptMissing, .receipt(.missing), .parts { $0.receipt = nil }),
    ]

    private static func extensions(
        _ fault: AttestationFault,
        _ edit: @escaping @Sendable (inout [UInt8]) -> Void
    ) -> AttestationFaultRow {
        .draft(fault, .malformedAuthData) {
            $0.announce(map: CBORBytes.map($0.device.entriesForFaults))
            edit(&$0.authData.extensions)
        }
    }

    private static func entries(
        _ fault: AttestationFault,
        _ expected: Refusal = .malformedAuthData,
        _ edit: @escaping @Sendable (inout [CBORPair]) -> Void
    ) -> AttestationFaultRow {
        .draft(fault, expected) { draft in
            var entries = draft.device.entriesForFaults
            edit(&entries)
            draft.announce(map: CBORBytes.map(entries))
        }
    }
}

extension FakeDevice {
    /// The map that this device signs; empty where it has none.
    package var extensionMap: [UInt8] { model.extensionMap }

    /// This device's entries; for shapes without a map (or without the two known entries), those that it could have.
    var entriesForFaults: [CBORPair] {
        var entries = model.extensionEntries
        if !shape.hasBundleVersion { entries.append(ExtensionEntries.bundleVersion(bundleVersion)) }
        if !shape.hasCategory { entries.append(ExtensionEntries.category(category)) }
        return entries
    }
}

extension [CBORPair] {
    private static let categoryNames = [ExtensionEntries.categoryName, "validationCategory"]
    private static let bundleVersionNames = [ExtensionEntries.bundleVersionName, "bundleVersion"]

    mutating func setCategory(_ value: [UInt8]) { Self.categoryNames.forEach { set($0, value) } }
    mutating func removeCategory() { Self.categoryNames.forEach { remove($0) } }
    mutating func setBundleVersion(_ value: [UInt8]) { Self.bundleVersionNames.forEach { set($0, value) } }
    mutating func removeBundleVersion() { Self.bundleVersionNames.forEach { remove($0) } }
}
