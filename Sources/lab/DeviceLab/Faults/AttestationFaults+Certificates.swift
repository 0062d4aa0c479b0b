internal import AppAttest

extension AttestationFault {
    static let certificateRows: [Self] = singleRows + strangeRows + extensionRows + linkRows + unfitRows + dateRows

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
        leaf("leaf-sha384") { $0.hash = .sha384 },
        leaf("leaf-algorithms-differ") { $0.outerAlgorithm = CertificateHash.sha384.algorithm },
        leaf("leaf-critical-extension") {
            $0.extensions.append(.critical(OID.unknown, DER.null))
        },
        leaf("leaf-duplicate-extension") { $0.duplicate(OID.keyUsage) },
        leaf("leaf-duplicate-nonce") { $0.duplicate(OID.nonce) },
        .parts("leaf-time-malformed", .badCertificate) { $0.certificates[0].spoilFirstTime() },
        .parts("intermediate-garbage", .badCertificate) { $0.certificates[1] = Array("no certificate".utf8) },
        .parts("intermediate-trailing-byte", .badCertificate) { $0.certificates[1].append(0) },
        intermediate("critical-extension", .badCertificate),
    ]

    /// Extensions beyond those that the verifier processes, and BOOLEANs that are valid in BER but not in DER.
    private static let strangeRows: [Self] = [
        "name-constraints", "policies", "usage", "loose-critical", "loose-ca",
    ].map { intermediate($0, .badCertificate) }

    private static let extensionRows: [Self] = [
        leaf("leaf-critical-usage") {
            $0.remove(OID.extendedKeyUsage)
            $0.extensions.append(.appAttestUsage)
        },
        leaf("leaf-loose-critical") { $0.loosenCritical(OID.keyUsage) },
    ]

    private static let linkRows: [Self] = [
        .draft("leaf-by-other-key", .chain) { $0.leafIssuer = $0.device.ca.unfit.foreign.intermediate.key },
        .parts("leaf-signature-flipped", .chain) { $0.certificates[0] = $0.certificates[0].flippingLastBit() },
        .parts("leaf-signature-empty", .chain) { $0.certificates[0].emptySignature() },
        leaf("leaf-issuer-name", .chain) { $0.issuer = LabName.attestation("Lab App Attestation CA 2") },
        .parts("leaf-changed-after-signing", .chain) { $0.certificates[0].changeCommonName() },
        .draft("foreign-root", .chain) { $0.use($0.device.ca.unfit.foreign) },
        // The standing intermediate's name with a certificate that only a foreign root has issued.
        .draft("foreign-intermediate", .chain) { $0.chain = [$0.device.ca.unfit.foreign.intermediate.certificate] },
        .draft("root-as-intermediate", .chain) {
            $0.chain = [$0.device.ca.root.certificate]
            $0.leaf.issuer = LabName.root
            $0.leafIssuer = $0.device.ca.root.key
        },
        .parts("leaf-as-intermediate", .chain) { $0.certificates[1] = $0.certificates[0] },
        .parts("swapped-certificates", .badCertificate) { $0.certificates.swapAt(0, 1) },
    ]

    private static let unfitRows: [Self] = [
        "not-ca", "no-constraints", "no-cert-sign", "issuer-name", "signature-flipped",
    ].map { intermediate($0, .chain) }

    private static let dateRows: [Self] = [
        // An hour off, so that records which a broker stamps a little later still have the fault.
        .draft("leaf-expired", .expiredOrNotYetValid(.leaf)) {
            $0.leaf.validity = Validity(notBefore: $0.time - 3 * 86_400, notAfter: $0.time - 3600)
        },
        .draft("leaf-not-yet-valid", .expiredOrNotYetValid(.leaf)) {
            $0.leaf.validity = Validity(notBefore: $0.time + 3600, notAfter: $0.time + 3 * 86_400)
        },
        intermediate("expired", .expiredOrNotYetValid(.intermediate)),
        intermediate("not-yet-valid", .expiredOrNotYetValid(.intermediate)),
        .draft("root-expired", .expiredOrNotYetValid(.root)) { $0.use($0.device.ca.unfit.expiredRoot) },
        .draft("root-not-yet-valid", .expiredOrNotYetValid(.root)) { $0.use($0.device.ca.unfit.futureRoot) },
    ]

    private static func leaf(
        _ name: String,
        _ expected: Refusal = .badCertificate,
        _ edit: @escaping @Sendable (inout CertificateDraft) -> Void
    ) -> Self { .draft(name, expected) { edit(&$0.leaf) } }

    private static func intermediate(_ fault: String, _ expected: Refusal) -> Self {
        .draft("intermediate-\(fault)", expected) { $0.chain = [$0.device.ca.unfit.intermediate(fault)] }
    }
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
        guard let start = firstRange(of: [0x17, 0x0D])?.lowerBound else { return }
        replaceSubrange((start + 4)..<(start + 6), with: Array<UInt8>("13".utf8))
    }

    /// The leaf's common name (64 bytes) with another first character.
    fileprivate mutating func changeCommonName() {
        guard let start = firstRange(of: OID.commonName + [0x0C, 0x40])?.upperBound else { return }
        self[start] ^= 1
    }

    /// A certificate whose signature is a BIT STRING without content.
    fileprivate mutating func emptySignature() {
        // ecdsa-with-SHA256 occurs twice: the second one is before the signature.
        let algorithm = CertificateHash.sha256.algorithm
        guard let inner = firstRange(of: algorithm), let outer = self[inner.upperBound...].firstRange(of: algorithm)
        else { return }
        let body = Array(self[4..<outer.upperBound])
        self = DER.element(0x30, body + DER.bitString([]))
    }
}
