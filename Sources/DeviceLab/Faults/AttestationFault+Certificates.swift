internal import AppAttest
internal import Crypto

extension AttestationFault {
    /// Faults of the certificates, each by itself.
    static let certificateRows: [AttestationFaultRow] = singleRows + extensionRows

    private static let singleRows: [AttestationFaultRow] = [
        .parts(.noCertificate, .badCertificate) { $0.certificates = [] },
        .parts(.oneCertificate, .badCertificate) { $0.certificates.removeLast() },
        .parts(.threeCertificates, .badCertificate) { $0.certificates.append($0.certificates[1]) },
        .parts(.leafGarbage, .badCertificate) { $0.certificates[0] = Array("no certificate".utf8) },
        .parts(.leafEmpty, .badCertificate) { $0.certificates[0] = [] },
        .parts(.leafTrailingByte, .badCertificate) { $0.certificates[0].append(0) },
        .parts(.leafTruncated, .badCertificate) { $0.certificates[0].removeLast() },
        .parts(.leafLongFormLength, .badCertificate) {
            // 30 82 hh ll becomes 30 83 00 hh ll.
            $0.certificates[0].replaceSubrange(1..<2, with: [0x83, 0])
        },
        .draft(.leafVersion1, .badCertificate) { $0.leaf.version = [] },
        .draft(.leafIsCA, .badCertificate) {
            $0.leaf.replace(OID.basicConstraints, value: DER.sequence(DER.boolean(true)))
        },
        .draft(.leafMayNotSign, .badCertificate) { $0.leaf.replace(OID.keyUsage, value: [0x03, 0x02, 0x04, 0x70]) },
        .draft(.leafSHA384, .badCertificate) {
            $0.leaf.hash = .sha384
            $0.leaf.innerAlgorithm = CertificateHash.sha384.algorithm
            $0.leaf.outerAlgorithm = CertificateHash.sha384.algorithm
        },
        .draft(.leafAlgorithmsDiffer, .badCertificate) {
            $0.leaf.outerAlgorithm = CertificateHash.sha384.algorithm
        },
        .draft(.leafCriticalExtension, .badCertificate) {
            $0.leaf.extensions.append(CertificateExtension(oid: OID.unknown, isCritical: true, value: DER.null))
        },
        .draft(.leafDuplicateExtension, .badCertificate) { $0.leaf.duplicate(OID.keyUsage) },
        .draft(.leafDuplicateNonce, .badCertificate) { $0.leaf.duplicate(OID.nonce) },
        .parts(.leafTimeMalformed, .badCertificate) { $0.certificates[0].spoilFirstTime() },
        .parts(.intermediateGarbage, .badCertificate) { $0.certificates[1] = Array("no certificate".utf8) },
        .parts(.intermediateTrailingByte, .badCertificate) { $0.certificates[1].append(0) },
        .draft(.intermediateCriticalExtension, .badCertificate) {
            $0.chain = [$0.device.ca.unfit.withCriticalExtension.certificate]
        },
    ]

    /// Extensions beyond those that the verifier processes, and BOOLEANs that are valid in BER but not in DER.
    private static let extensionRows: [AttestationFaultRow] = [
        .draft(.intermediateNameConstraints, .badCertificate) {
            $0.chain = [$0.device.ca.unfit.loose.withNameConstraints.certificate]
        },
        .draft(.intermediatePolicies, .badCertificate) {
            $0.chain = [$0.device.ca.unfit.loose.withPolicies.certificate]
        },
        .draft(.intermediateUsage, .badCertificate) { $0.chain = [$0.device.ca.unfit.loose.withUsage.certificate] },
        .draft(.intermediateLooseCritical, .badCertificate) {
            $0.chain = [$0.device.ca.unfit.loose.withLooseCritical.certificate]
        },
        .draft(.intermediateLooseCA, .badCertificate) {
            $0.chain = [$0.device.ca.unfit.loose.withLooseCA.certificate]
        },
        .draft(.leafCriticalUsage, .badCertificate) {
            $0.leaf.remove(OID.extendedKeyUsage)
            $0.leaf.extensions.append(.appAttestUsage(isCritical: true))
        },
        .draft(.leafLooseCritical, .badCertificate) { $0.leaf.loosenCritical(OID.keyUsage) },
    ]

    /// Faults of the links between certificates, and of their dates.
    static let chainRows: [AttestationFaultRow] = leafChainRows + intermediateChainRows + dateRows

    private static let leafChainRows: [AttestationFaultRow] = [
        .draft(.leafByOtherKey, .chain) { $0.leafIssuer = $0.device.ca.unfit.foreign.intermediate.key },
        .parts(.leafSignatureFlipped, .chain) { $0.certificates[0] = $0.certificates[0].flippingLastBit() },
        .draft(.leafIssuerName, .chain) { $0.leaf.issuer = LabName.attestation("Lab App Attestation CA 2") },
        .parts(.leafChangedAfterSigning, .chain) { $0.certificates[0].changeCommonName() },
        .parts(.leafSignatureEmpty, .chain) { $0.certificates[0].emptySignature() },
        .parts(.leafAsIntermediate, .chain) { $0.certificates[1] = $0.certificates[0] },
        .parts(.swappedCertificates, .badCertificate) { $0.certificates.swapAt(0, 1) },
    ]

    private static let intermediateChainRows: [AttestationFaultRow] = [
        .draft(.foreignRoot, .chain) { $0.use($0.device.ca.unfit.foreign) },
        // The standing intermediate's name with a certificate that only a foreign root has issued.
        .draft(.foreignIntermediate, .chain) { $0.chain = [$0.device.ca.unfit.foreign.intermediate.certificate] },
        .draft(.rootAsIntermediate, .chain) {
            $0.chain = [$0.device.ca.root.certificate]
            $0.leaf.issuer = LabName.root
            $0.leafIssuer = $0.device.ca.root.key
        },
        .draft(.intermediateNotCA, .chain) { $0.chain = [$0.device.ca.unfit.notAuthority.certificate] },
        .draft(.intermediateNoConstraints, .chain) {
            $0.chain = [$0.device.ca.unfit.withoutBasicConstraints.certificate]
        },
        .draft(.intermediateNoCertSign, .chain) {
            $0.chain = [$0.device.ca.unfit.withoutCertificateSigning.certificate]
        },
        .draft(.intermediateIssuerName, .chain) { $0.chain = [$0.device.ca.unfit.withOtherIssuerName.certificate] },
        .draft(.intermediateSignatureFlipped, .chain) {
            $0.chain = [$0.device.ca.unfit.withFlippedSignature.certificate]
        },
    ]

    private static let dateRows: [AttestationFaultRow] = [
        // An hour off, so that records which a broker stamps a little later still have the fault.
        .draft(.leafExpired, .expiredOrNotYetValid(.leaf)) {
            $0.leaf.notBefore = $0.time - 3 * 86_400
            $0.leaf.notAfter = $0.time - 3600
        },
        .draft(.leafNotYetValid, .expiredOrNotYetValid(.leaf)) {
            $0.leaf.notBefore = $0.time + 3600
            $0.leaf.notAfter = $0.time + 3 * 86_400
        },
        .draft(.intermediateExpired, .expiredOrNotYetValid(.intermediate)) {
            $0.chain = [$0.device.ca.unfit.expired.certificate]
        },
        .draft(.intermediateNotYetValid, .expiredOrNotYetValid(.intermediate)) {
            $0.chain = [$0.device.ca.unfit.notYetValid.certificate]
        },
        .draft(.rootExpired, .expiredOrNotYetValid(.root)) { $0.use($0.device.ca.unfit.expiredRoot) },
        .draft(.rootNotYetValid, .expiredOrNotYetValid(.root)) { $0.use($0.device.ca.unfit.futureRoot) },
    ]
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
