package import Crypto

extension ObjectVerifier {
    /// Checks everything about an assertion except its signature, which is returned as a check.
    ///
    /// The signature is judged before any field is: of unsigned data only the shape (the extension map's included)
    /// affects the verdict.
    ///
    /// - Parameters:
    ///   - clientDataHash: 1 byte up to the verifier's limit.
    ///   - key: the attested key that the assertion must be signed with. One that is not a point on the curve is
    ///     `key-invalid`.
    ///   - second: the key's second point, if it is known.
    package func prepareAssertion(
        _ object: [UInt8],
        clientDataHash: [UInt8],
        key: P256PublicKey,
        second: P256SecondPoint? = nil,
        expectations: Expectations
    ) -> Prepared<AssertionEvidence> {
        guard let parts = AssertionParts(object, clientDataHash: clientDataHash, limits: limits) else {
            return Prepared(refused: .malformedAssertion)
        }
        let bytes = object.span
        guard let signature = P256Signature(strictDER: bytes.extracting(parts.object.signature)) else {
            return Prepared(refused: Self.signatureRefusal(key))
        }
        let nonce = SHA256.hash(bytes.extracting(parts.object.authenticatorData), clientDataHash.span)
        // The nonce is the message that ECDSA signs, so ECDSA sees its digest.
        let check = SignatureCheck.p256(key: key, digest: SHA256.hash(nonce), signature: signature, second: second)
        let content = Result { () throws(Refusal) in try Self.judge(parts.data, parts.entries, expectations) }
        return Prepared(check: check, content: content) { check in
            guard case .p256(let key, _, _, _) = check else { return .signatureInvalid }
            return Self.signatureRefusal(key)
        }
    }

    /// The refusal of a signature: if none can match a stored key, that is the store's fault, not the device's.
    private static func signatureRefusal(_ key: P256PublicKey) -> Refusal {
        P256PublicKey(x963: key.x963.span) == nil ? .keyInvalid : .signatureInvalid
    }

    static func judge(
        _ data: AuthenticatorData,
        _ found: ExtensionEntries,
        _ expectations: Expectations
    ) throws(Refusal) -> AssertionEvidence {
        guard let appID = expectations.appIDs.first(where: { $0.rpIDHash == data.rpIDHash }) else {
            throw .appIDMismatch
        }
        // Without ED the map may be the beginning of a longer hash, which any app may have signed.
        let counts = data.announcesMap || expectations.extensionTrust == .any
        let entries = counts ? found : .missing
        try entries.judge(by: expectations)
        return AssertionEvidence(
            appID: appID,
            counter: data.counter,
            validationCategory: entries.validationCategory,
            bundleVersion: entries.bundleVersion,
            ignoresExtensions: found.isPresent && !counts
        )
    }
}
