internal import AppAttest
internal import Crypto

extension AttestationFault {
    static let certificateRows: [Self] = singleRows + extensionRows + linkRows + dateRows

    /// Faults of the certificates, each by itself.
    private static let singleRows: [Self] = [
        .parts("no-certificate", .badCertificate) { $0.certificates = [] },
        .parts("one-certificate", .badCertificate) { $0.certificates.removeLast() },
        .parts("three-certificates", .badCertificate) { $0.certificates.append($0.certificates[1]) },
        .parts("leaf-garbage", .badCertificate) { $0.certificates[0] = Array("no certificate".utf8) },
        .parts("leaf-empty", .badCertificate) { $0.certificates[0] = [] },
        .parts("leaf-trailing-byte", .badCertificate) { $0.certificates[0].append(0) },
        .parts("leaf-truncated", .badCertificate) { $0.certificates[0].removeLast() },
        // 30 82 hh ll becomes 30 83 00 hh ll.
        .parts("leaf-long-form-length", .badCertificate) {
            $0.certificates[0].replaceSubrange(1..<2, with: [0x83, 0])
        },
        leaf("leaf-version-1") { $0.version = [] },
        leaf("leaf-is-ca") { $0.replace(OID.basicConstraints, value: DER.sequence(DER.boolean(true))) },
        leaf("leaf-may-not-sign") { $0.replace(OID.keyUsage, value: [0x03, 0x02, 0x04, 0x70]) },
        leaf("leaf-sha384") {
            $0.hash = .sha384
            $0.innerAlgorithm = CertificateHash.sha384.algorithm
            $0.outerAlgorithm = CertificateHash.sha384.algorithm
        },
        leaf("leaf-algorithms-differ") { $0.outerAlgorithm = CertificateHash.sha384.algorithm },
        leaf("leaf-critical-extension") {
            $0.extensions.append(CertificateExtension(oid: OID.unknown, isCritical: true, value: DER.null))
        },
        leaf("leaf-duplicate-extension") { $0.duplicate(OID.keyUsage) },
        leaf("leaf-duplicate-nonce") { $0.duplicate(OID.nonce) },
        .parts("leaf-time-malformed", .badCertificate) { $0.certificates[0].spoilFirstTime() },
        .parts("intermediate-garbage", .badCertificate) { $0.certificates[1] = Array("no certificate".utf8) },
        .parts("intermediate-trailing-byte", .badCertificate) { $0.certificates[1].append(0) },
        intermediate("intermediate-critical-extension", .badCertificate) { $0.withCriticalExtension },
    ]

    /// Extensions beyond those that the verifier processes, and BOOLEANs that are valid in BER but not in DER.
    private static let extensionRows: [Self] = [
        intermediate("intermediate-name-constraints", .badCertificate) { $0.loose.withNameConstraints },
        intermediate("intermediate-policies", .badCertificate) { $0.loose.withPolicies },
        intermediate("intermediate-usage", .badCertificate) { $0.loose.withUsage },
        intermediate("intermediate-loose-critical", .badCertificate) { $0.loose.withLooseCritical },
        intermediate("intermediate-loose-ca", .badCertificate) { $0.loose.withLooseCA },
        leaf("leaf-critical-usage") {
            $0.remove(OID.extendedKeyUsage)
            $0.extensions.append(.appAttestUsage(isCritical: true))
        },
        leaf("leaf-loose-critical") { $0.loosenCritical(OID.keyUsage) },
    ]

    /// Faults of the links between certificates.
    private static let linkRows: [Self] = [
        .draft("leaf-by-other-key", .chain) { $0.leafIssuer = $0.device.ca.unfit.foreign.intermediate.key },
        .parts("leaf-signature-flipped", .chain) { $0.certificates[0] = $0.certificates[0].flippingLastBit() },
        .parts("leaf-signature-empty", .chain) { $0.certificates[0].emptySignature() },
        leaf("leaf-issuer-name", .chain) { $0.issuer = LabName.attestation("Lab App Attestation CA 2") },
        .parts("leaf-changed-after-signing", .chain) { $0.certificates[0].changeCommonName() },
        .draft("foreign-root", .chain) { $0.use($0.device.ca.unfit.foreign) },
        // The standing intermediate's name with a certificate that only a foreign root has issued.
        intermediate("foreign-intermediate", .chain) { $0.foreign.intermediate },
        .draft("root-as-intermediate", .chain) {
            $0.chain = [$0.device.ca.root.certificate]
            $0.leaf.issuer = LabName.root
            $0.leafIssuer = $0.device.ca.root.key
        },
        .parts("leaf-as-intermediate", .chain) { $0.certificates[1] = $0.certificates[0] },
        .parts("swapped-certificates", .badCertificate) { $0.certificates.swapAt(0, 1) },
        intermediate("intermediate-not-ca", .chain) { $0.notAuthority },
        intermediate("intermediate-no-constraints", .chain) { $0.withoutBasicConstraints },
        intermediate("intermediate-no-cert-sign", .chain) { $0.withoutCertificateSigning },
        intermediate("intermediate-issuer-name", .chain) { $0.withOtherIssuerName },
        intermediate("intermediate-signature-flipped", .chain) { $0.withFlippedSignature },
    ]

    private static let dateRows: [Self] = [
        // An hour off, so that records which a broker stamps a little later still have the fault.
        .draft("leaf-expired", .expiredOrNotYetValid(.leaf)) {
            ($0.leaf.notBefore, $0.leaf.notAfter) = ($0.time - 3 * 86_400, $0.time - 3600)
        },
        .draft("leaf-not-yet-valid", .expiredOrNotYetValid(.leaf)) {
            ($0.leaf.notBefore, $0.leaf.notAfter) = ($0.time + 3600, $0.time + 3 * 86_400)
        },
        intermediate("intermediate-expired", .expiredOrNotYetValid(.intermediate)) { $0.expired },
        intermediate("intermediate-not-yet-valid", .expiredOrNotYetValid(.intermediate)) { $0.notYetValid },
        .draft("root-expired", .expiredOrNotYetValid(.root)) { $0.use($0.device.ca.unfit.expiredRoot) },
        .draft("root-not-yet-valid", .expiredOrNotYetValid(.root)) { $0.use($0.device.ca.unfit.futureRoot) },
    ]

    private static func leaf(
        _ name: String,
        _ expected: Refusal = .badCertificate,
        _ edit: @escaping @Sendable (inout CertificateDraft) -> Void
    ) -> Self { .draft(name, expected) { edit(&$0.leaf) } }

    private static func intermediate(
        _ name: String,
        _ expected: Refusal,
        _ unfit: @escaping @Sendable (UnfitAuthorities) -> LabAuthority
    ) -> Self { .draft(name, expected) { $0.chain = [unfit($0.device.ca.unfit).certificate] } }
}

extension AttestationDraft {
    /// Another intermediate of the same name signs the leaf.
    fileprivate mutating func use(_ other: LabChain) {
        chain = [other.intermediate.certificate]
        leafIssuer = other.intermediate.key
    }
}

extension CertificateDraft {
    fileprivate mutating func duplicate(_ oid: [UInt8]) { extensions += extensions.filter { $0.oid == oid } }
}

extension [UInt8] {
    /// A certificate whose first UTCTime has month thirteen.
    fileprivate mutating func spoilFirstTime() {
        guard let start = firstOffset(of: [0x17, 0x0D]) else { return }
        replaceSubrange((start + 4)..<(start + 6), with: Array<UInt8>("13".utf8))
    }

    /// The leaf's common name (64 bytes) with another first character.
    fileprivate mutating func changeCommonName() {
        guard let start = firstOffset(of: OID.commonName + [0x0C, 0x40]) else { return }
        self[start + OID.commonName.count + 2] ^= 1
    }

    /// A certificate whose signature is a BIT STRING without content.
    fileprivate mutating func emptySignature() {
        // ecdsa-with-SHA256 occurs twice: the second one is before the signature.
        let algorithm = CertificateHash.sha256.algorithm
        guard let inner = firstOffset(of: algorithm),
            let outer = self[(inner + 1)...].firstOffset(of: algorithm)
        else { return }
        let body = Array(self[4..<(outer + algorithm.count)])
        self = DER.element(0x30, body + DER.bitString([]))
    }
}

extension RandomAccessCollection where Element == UInt8, Index == Int {
    fileprivate func firstOffset(of pattern: [UInt8]) -> Int? {
        guard count >= pattern.count else { return nil }
        return (startIndex...(endIndex - pattern.count)).first { start in
            pattern.indices.allSatisfy { self[start + $0] == pattern[$0] }
        }
    }
}
