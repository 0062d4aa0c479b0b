internal import Crypto

/// An attestation whose certificates are valid in themselves and whose intermediate a root has issued.
struct AttestationChain: Sendable {
    let object: AttestationObject
    let leaf: LeafCertificate
    let issuer: TrustedIntermediate
}

/// Everything in an attestation after its chain: judged from the dates on, in the order of Apple's steps.
struct AttestationContent<Tracer: CheckTracer> {
    let bytes: [UInt8]
    let chain: AttestationChain
    /// nil where an object is explained without one: there is nothing to compare the nonce with.
    let clientDataHash: [UInt8]?
    let keyID: KeyID
    let expectations: Expectations
    let time: EvaluationTime
    let trace: Tracer

    private var leaf: LeafCertificate { chain.leaf }
    private var object: AttestationObject { chain.object }

    /// Whether the receipt inside is judged at all.
    private var judgesReceipt: Bool { expectations.receipt != .ignore && object.receipt != nil }

    /// The receipt inside; nil if there is none or the policy ignores it.
    var judgedReceipt: [UInt8]? { judgesReceipt ? object.receipt.map { Array(bytes[$0]) } : nil }

    func judged() throws(Refusal) -> JudgedAttestation {
        try judgeDates()
        let nonce = try judgedNonce()
        let (data, credential) = try readAuthenticatorData()
        let device = DeviceInformation(leaf.extensions, bytes.span)
        try judgeAccessControl(device)
        let key = try judgedKey()
        let appID = try expectations.appID(of: data.rpIDHash, trace) { PresentedAppID.of(object, leaf, bytes.span) }
        try trace.check("counter", data.counter == 0, else: Refusal.counterNotZero) {
            Comparison("counter", .number(Int64(data.counter)), expected: .number(0))
        }
        let environment = try judgedEnvironment(credential)
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
        return try JudgedAttestation(evidence, entries, mapTrust(data, entries), expectations, trace)
    }

    /// Whether the map counts. Without ED it may be the beginning of a longer hash, which any app may have had
    /// attested: only Apple's own copy of the hash, in the receipt, shows where it begins. An object that is explained
    /// without a hash has nothing to compare with.
    private func mapTrust(_ data: AuthenticatorData, _ entries: ExtensionEntries) -> JudgedAttestation.MapTrust {
        if !entries.isPresent || data.announcesMap || clientDataHash == nil { return .counts }
        return judgesReceipt ? .countsByReceipt : .ignored
    }

    private func judgeDates() throws(Refusal) {
        let (issuer, roots) = (chain.issuer.validity, chain.issuer.roots)
        try judge(.leaf, leaf.validity.contains(time)) { [leaf.validity] }
        try judge(.intermediate, issuer.contains(time)) { [issuer] }
        try judge(.root, roots.contains { $0.contains(time) }) { roots }
    }

    private func judge(
        _ role: Refusal.CertificateRole,
        _ isMet: Bool,
        _ validities: () -> [Validity]
    ) throws(Refusal) {
        try trace.check("dates", isMet, else: Refusal.expiredOrNotYetValid(role), adds: true) {
            let spans = validities().map(\.text)
            return Comparison("\(role.rawValue)'s dates", .list(spans), expected: .text("with \(RFC3339.text(time))"))
        }
    }

    private func judgedNonce() throws(Refusal) -> Digest {
        guard let clientDataHash else { return SHA256.hash([]) }
        let span = bytes.span
        guard let value = leaf.extensions.nonce else {
            throw trace.failed("nonce", .nonceMissing) {
                Comparison("nonce", .absent, expected: .text("extension 1.2.840.113635.100.8.2 of the leaf"))
            }
        }
        let header = value.prefix(NonceExtension.header.count)
        guard span.holds(NonceExtension.header, in: header),
            let stated = span.digest(header.upperBound..<value.upperBound)
        else {
            throw trace.failed("nonce", .nonceMalformed) {
                let expected = "\(ReportValue.bytes(NonceExtension.header)) and 32 bytes"
                return Comparison("nonce", .bytes(bytes.span.array(value)), expected: .text(expected))
            }
        }
        let nonce = SHA256.hash(span.extracting(object.authenticatorData), clientDataHash.span)
        try trace.check("nonce", stated == nonce, else: Refusal.nonceMismatch) {
            Comparison("nonce", .bytes(stated.bytes), expected: .bytes(nonce.bytes))
        }
        return nonce
    }

    /// Data that ends before the credential does is judged here, where the first of its fields is due: no later step
    /// could read anything from it.
    private func readAuthenticatorData() throws(Refusal) -> (AuthenticatorData, AttestedCredential) {
        let range = object.authenticatorData
        guard let data = AuthenticatorData(range, bytes.span) else { throw malformedData("authenticator data") }
        let hasCredential = data.flags & AuthenticatorData.attestedCredentialData != 0
        try trace.check("authenticator data", hasCredential, else: Refusal.flags) {
            Comparison("flags", data.flagNames, expected: "AT (0x40) among them")
        }
        guard let credential = AttestedCredential(range, bytes.span) else { throw malformedData("authenticator data") }
        return (data, credential)
    }

    private func malformedData(_ check: String) -> Refusal {
        trace.failed(check, .malformedAuthData) { .authenticatorData(object.authenticatorData, bytes.span) }
    }

    private func judgeAccessControl(_ device: DeviceInformation) throws(Refusal) {
        guard expectations.macACL == .require, device.isMac else { return trace.passed("access control") { nil } }
        try AccessControl.judge(leaf.extensions, bytes.span, trace)
    }

    private func judgedKey() throws(Refusal) -> P256PublicKey {
        guard let key = leaf.key else {
            throw trace.failed("key", .keyType) {
                Comparison("leaf's key", "another key", expected: "an uncompressed point of P-256")
            }
        }
        try trace.check("key", KeyID(of: key) == keyID, else: Refusal.keyIDMismatch) {
            Comparison("key ID", .base64(keyID.bytes), expected: .base64(key.digest.bytes))
        }
        return key
    }

    private func judgedEnvironment(_ credential: AttestedCredential) throws(Refusal) -> Environment {
        guard let environment = credential.environment else {
            throw trace.failed("environment", .aaguidUnknown) { .aaguid(object.authenticatorData, bytes.span) }
        }
        try trace.check("environment", expectations.accepts(environment), else: Refusal.environmentMismatch) {
            let accepted = Environment.allCases.filter { expectations.accepts($0) }.map(\.rawValue)
            return Comparison("environment", .text(environment.rawValue), expected: .list(accepted))
        }
        return environment
    }

    private func judge(_ credential: AttestedCredential, _ key: P256PublicKey) throws(Refusal) {
        let count = Int64(Digest.byteCount)
        guard credential.credentialIDLength == Digest.byteCount else {
            throw trace.failed("credential ID", .credentialIDLength) {
                let found = Int64(credential.credentialIDLength)
                return Comparison("credential ID length", .number(found), expected: .number(count))
            }
        }
        try trace.check("credential ID", credential.credentialID == keyID.digest, else: Refusal.credentialIDMismatch) {
            Comparison("credential ID", .base64(credential.credentialID.bytes), expected: .base64(keyID.bytes))
        }
        let isSame = COSEKey.holds(key, credential.coseKey, bytes.span)
        try trace.check("COSE key", isSame, else: Refusal.coseKeyMismatch) {
            let presented = bytes.span.array(credential.coseKey)
            return Comparison("COSE key", .bytes(presented), expected: .bytes(COSEKey.bytes(of: key)))
        }
    }

    private func readEntries(_ device: DeviceInformation) throws(Refusal) -> ExtensionEntries {
        let range = object.authenticatorData
        let rest = (range.lowerBound + AttestedCredential.endOffset)..<range.upperBound
        guard let entries = try? ExtensionEntries(rest, bytes.span) else { throw malformedData("extension map") }
        let isOld = device.majorVersion.map { $0 < ExtensionEntries.firstVersion } ?? false
        try trace.check("extension map", !entries.isPresent || !isOld, else: Refusal.extensionsNotExpected) {
            .extensionMap(entries, device, isOld: isOld)
        }
        return entries
    }
}

enum NonceExtension {
    /// SEQUENCE { [1] EXPLICIT OCTET STRING (32) } up to the nonce.
    static let header: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]
}

extension Expectations {
    /// The listed App ID that an object names by its hash.
    ///
    /// - Parameter presented: the App ID in clear, where the object has it.
    func appID(
        of hash: Digest,
        _ trace: some CheckTracer,
        presented: () -> ExactText?
    ) throws(Refusal) -> AppID {
        let found = appIDs.first { $0.rpIDHash == hash }
        guard let found else {
            throw trace.failed("app ID", .appIDMismatch) { .appID(hash, presented(), appIDs, trace.knownAppIDs) }
        }
        trace.passed("app ID") { .appID(hash, presented(), appIDs, trace.knownAppIDs) }
        return found
    }
}
