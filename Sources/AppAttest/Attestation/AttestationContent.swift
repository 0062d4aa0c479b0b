internal import Crypto

/// An attestation whose certificates are valid in themselves and whose intermediate a root has issued.
struct AttestationChain: Sendable {
    let object: AttestationObject
    let leaf: LeafCertificate
    let issuer: TrustedIntermediate
}

/// Everything in an attestation after its chain: judged from the dates on, in the order of Apple's steps.
struct AttestationContent {
    let bytes: [UInt8]
    let chain: AttestationChain
    let clientDataHash: [UInt8]
    let keyID: KeyID
    let expectations: Expectations
    let time: EvaluationTime

    private var leaf: LeafCertificate { chain.leaf }
    private var object: AttestationObject { chain.object }

    /// Whether the receipt inside is judged at all.
    var judgesReceipt: Bool { expectations.receipt != .ignore && object.receipt != nil }

    func judged() throws(Refusal) -> JudgedAttestation {
        try judgeDates()
        return try judgedFields(nonce: judgedNonce())
    }

    /// The checks after the nonce.
    func judgedFields(nonce: Digest) throws(Refusal) -> JudgedAttestation {
        let (data, credential) = try readAuthenticatorData()
        let device = DeviceInformation(leaf.extensions, bytes.span)
        if expectations.macACL == .require, device.isMac { try AccessControl.judge(leaf.extensions, bytes.span) }
        let key = try judgedKey()
        guard let appID = expectations.appIDs.first(where: { $0.rpIDHash == data.rpIDHash }) else {
            throw .appIDMismatch
        }
        guard data.counter == 0 else { throw .counterNotZero }
        guard let environment = credential.environment else { throw .aaguidUnknown }
        guard expectations.accepts(environment) else { throw .environmentMismatch }
        try judge(credential, key)
        let entries = try readEntries(device)
        let evidence = AttestationEvidence(
            environment: environment,
            appID: appID,
            publicKey: key,
            nonce: nonce,
            platform: device.platform,
            osVersion: device.osVersion,
            leafNotBefore: leaf.validity.notBefore,
            leafNotAfter: leaf.validity.notAfter,
            issued: IssueTime(of: leaf, bytes.span)
        )
        return try JudgedAttestation(evidence, entries, mapTrust(data, entries), expectations)
    }

    /// Whether the map counts. Without ED it may be the beginning of a longer hash, which any app may have had
    /// attested: only Apple's own copy of the hash, in the receipt, shows where it begins. An object that is explained
    /// without a hash has nothing to compare with.
    private func mapTrust(_ data: AuthenticatorData, _ entries: ExtensionEntries) -> JudgedAttestation.MapTrust {
        if !entries.isPresent || data.announcesMap || clientDataHash.isEmpty { return .counts }
        return judgesReceipt ? .countsByReceipt : .ignored
    }

    func judgeDates() throws(Refusal) {
        guard leaf.validity.contains(time) else { throw .expiredOrNotYetValid(.leaf) }
        guard chain.issuer.validity.contains(time) else { throw .expiredOrNotYetValid(.intermediate) }
        guard chain.issuer.roots.contains(where: { $0.contains(time) }) else { throw .expiredOrNotYetValid(.root) }
    }

    /// SEQUENCE { [1] EXPLICIT OCTET STRING (32) } up to the nonce.
    static let nonceHeader: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]

    private func judgedNonce() throws(Refusal) -> Digest {
        let span = bytes.span
        guard let value = leaf.extensions.nonce else { throw .nonceMissing }
        let header = value.prefix(Self.nonceHeader.count)
        guard span.holds(Self.nonceHeader, in: header),
            let stated = span.digest(header.upperBound..<value.upperBound)
        else { throw .nonceMalformed }
        let nonce = SHA256.hash(span.extracting(object.authenticatorData), clientDataHash.span)
        guard stated == nonce else { throw .nonceMismatch }
        return nonce
    }

    /// Data that ends before the credential does is judged here, where the first of its fields is due: no later step
    /// could read anything from it.
    private func readAuthenticatorData() throws(Refusal) -> (AuthenticatorData, AttestedCredential) {
        let range = object.authenticatorData
        guard let data = AuthenticatorData(range, bytes.span) else { throw .malformedAuthData }
        guard data.flags & AuthenticatorData.attestedCredentialData != 0 else { throw .flags }
        guard let credential = AttestedCredential(range, bytes.span) else { throw .malformedAuthData }
        return (data, credential)
    }

    private func judgedKey() throws(Refusal) -> P256PublicKey {
        guard let key = leaf.key else { throw .keyType }
        guard KeyID(of: key) == keyID else { throw .keyIDMismatch }
        return key
    }

    private func judge(_ credential: AttestedCredential, _ key: P256PublicKey) throws(Refusal) {
        guard credential.credentialIDLength == Digest.byteCount else { throw .credentialIDLength }
        guard credential.credentialID == keyID.digest else { throw .credentialIDMismatch }
        guard COSEKey.holds(key, credential.coseKey, bytes.span) else { throw .coseKeyMismatch }
    }

    /// The first major version of Apple's operating systems that writes extension maps.
    static let firstVersionWithMap = 27

    private func readEntries(_ device: DeviceInformation) throws(Refusal) -> ExtensionEntries {
        let range = object.authenticatorData
        let rest = (range.lowerBound + AttestedCredential.endOffset)..<range.upperBound
        guard let entries = try? ExtensionEntries(rest, bytes.span) else { throw .malformedAuthData }
        if entries.isPresent, let version = device.majorVersion, version < Self.firstVersionWithMap {
            throw .extensionsNotExpected
        }
        return entries
    }
}
