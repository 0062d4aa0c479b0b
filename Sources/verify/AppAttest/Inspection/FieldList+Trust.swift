extension FieldList {
    /// Whether an attestation's extension map counts, if there is one.
    ///
    /// - Parameter evidence: nil = refused before that was known.
    mutating func addTrust(
        inAttestation parsed: AttestationObject?,
        _ object: [UInt8],
        _ evidence: AttestationEvidence?,
        isHashGiven: Bool
    ) {
        guard let range = parsed?.authenticatorData, range.count > AttestedCredential.endOffset,
            let data = AuthenticatorData(range, object.span)
        else { return }
        let text: String
        switch evidence?.ignoresExtensions {
        case _ where data.announcesMap: text = Self.flagged
        case true?: text = "do not count: ED is clear, and no verified receipt has this client data hash"
        case false? where isHashGiven: text = "count: ED is clear, but the verified receipt has this client data hash"
        case false?, nil: text = "count only where the verified receipt has the client data hash: ED is clear"
        }
        add("extensions", text: text)
    }

    /// Whether an assertion's extension map counts, if there is one.
    private mutating func addTrust(inAssertion range: Range<Int>, _ bytes: Span<UInt8>, _ trust: ExtensionTrust) {
        guard range.count > AuthenticatorData.byteCount, let data = AuthenticatorData(range, bytes) else { return }
        switch trust {
        case _ where data.announcesMap: add("extensions", text: Self.flagged)
        case .any: add("extensions", text: "count: ED is clear, and extensions.trust is any")
        case .flagged: add("extensions", text: "do not count: ED is clear, and extensions.trust is flagged")
        }
    }

    /// All fields of an assertion, as far as they can be read.
    mutating func addAssertion(_ parsed: AssertionObject?, _ object: [UInt8], _ trust: ExtensionTrust) {
        let bytes = object.span
        add("size", count: object.count)
        guard let parsed else { return }
        let data = parsed.authenticatorData
        add("signature", parsed.signature, of: bytes)
        addAuthenticatorData(data, bytes)
        addEntries(data.dropFirst(AuthenticatorData.byteCount), bytes)
        addTrust(inAssertion: data, bytes, trust)
    }

    private static let flagged = "count: ED is set"
}
