internal import Crypto

/// What an assertion presents at each of its checks, read from the object a second time.
struct AssertionComparison {
    let object: [UInt8]
    let arguments: InspectionArguments
    let expectations: Expectations
    let limits: ObjectLimits

    /// nil for reasons that an assertion cannot have.
    func of(_ refusal: Refusal) -> Comparison? {
        let bytes = object.span
        let parsed = try? AssertionObject(bytes, limits: limits)
        switch refusal {
        case .malformedAssertion: return shape(parsed)
        case .keyInvalid:
            guard let key = arguments.key else { return nil }
            let isPoint = P256PublicKey(x963: key.x963.span) != nil
            let expected = "a point of P-256"
            return Comparison("key", isPoint ? expected : "\(ReportValue.bytes(key.x963))", expected: expected)
        case .signatureInvalid: return signature(parsed)
        case .appIDMismatch, .categoryMissing, .categoryNotAllowed, .bundleVersionMissing, .bundleVersionNotAllowed:
            guard let parsed, let (data, found) = AssertionParts.read(parsed, bytes) else { return nil }
            let counts = data.announcesMap || expectations.extensionTrust == .any
            let policy = PolicyComparison(expectations: expectations, knownAppIDs: arguments.knownAppIDs)
            return policy.of(refusal, rpIDHash: data.rpIDHash, found, counts: counts)
        default: return nil
        }
    }

    private func shape(_ parsed: AssertionObject?) -> Comparison {
        let expected = "1 to \(limits.assertionBytes) bytes of strict CBOR with signature and authenticatorData"
        let presented: String
        if let hash = arguments.clientDataHash, !limits.allows(clientDataHash: hash) {
            presented = "a client data hash of \(Counted.text(hash.count, "byte"))"
        } else if let parsed {
            let isRead = AssertionParts.read(parsed, object.span) != nil
            let data = "authenticatorData of \(Counted.text(parsed.authenticatorData.count, "byte"))"
            presented =
                isRead ? "\(Counted.text(object.count, "byte")) of that form" : data + " that cannot be read as a whole"
        } else {
            presented = "\(Counted.text(object.count, "byte")) of another form, \(ReportValue.beginning(object))"
        }
        return Comparison("object", presented, expected: expected)
    }

    private func signature(_ parsed: AssertionObject?) -> Comparison? {
        guard let parsed, let key = arguments.key, let hash = arguments.clientDataHash else { return nil }
        let bytes = object.span
        let nonce = SHA256.hash(bytes.extracting(parsed.authenticatorData), hash.span)
        let isDER = P256Signature(strictDER: bytes.extracting(parsed.signature)) != nil
        let written = ReportValue.bytes(bytes.array(parsed.signature)).description
        return Comparison(
            "signature",
            isDER ? written : "no strict DER of two numbers in range: " + written,
            expected: "by the key \(KeyID(of: key).base64), over the nonce \(ReportValue.bytes(nonce.bytes))"
        )
    }
}

/// The checks by an app's rules, which both kinds of object share.
struct PolicyComparison {
    let expectations: Expectations
    let knownAppIDs: [AppID]
    /// The App ID in clear, where the object has it.
    var presented: ExactText?

    func of(_ refusal: Refusal, rpIDHash: Digest, _ entries: ExtensionEntries, counts: Bool) -> Comparison? {
        let counted = counts ? entries : .missing
        let ignored = entries.isPresent && !counts ? "none that counts" : "none"
        switch refusal {
        case .appIDMismatch: return appID(rpIDHash)
        case .categoryMissing, .categoryNotAllowed:
            let allowed = expectations.categories.allow.map { $0.sorted().map(String.init) }
            let presented = counted.validationCategory.map(String.init) ?? ignored
            let expected = Self.allowed(allowed, expectations.categories.whenMissing)
            return Comparison("validation category", .text(presented), expected: expected)
        case .bundleVersionMissing, .bundleVersionNotAllowed:
            let allowed = expectations.bundleVersions.allow.map { $0.sorted(by: ExactText.isBefore).map(\.shown) }
            let presented = counted.bundleVersion?.shown ?? ignored
            let expected = Self.allowed(allowed, expectations.bundleVersions.whenMissing)
            return Comparison("bundle version", .text(presented), expected: expected)
        default: return nil
        }
    }

    /// The hash presented, and which of all configured App IDs it belongs to.
    private func appID(_ hash: Digest) -> Comparison {
        let name = (expectations.appIDs + knownAppIDs).first { $0.rpIDHash == hash && !$0.text.isEmpty }?.text
        let isListed = expectations.appIDs.contains { $0.rpIDHash == hash }
        let foreign = presented.map { "\($0.shown), which no app lists" } ?? "of no configured App ID"
        let owner = name.map { isListed ? $0 : "\($0), which another app lists" } ?? foreign
        let expected = expectations.appIDs.map { "\(ReportValue.bytes($0.rpIDHash.bytes)) (\($0.text))" }
        let presented = "\(ReportValue.bytes(hash.bytes)) (\(owner))"
        return Comparison("App ID hash", .text(presented), expected: .list(expected))
    }

    private static func allowed<Value>(
        _ values: [String]?,
        _ whenMissing: EntryPolicy<Value>.WhenMissing
    ) -> ReportValue {
        let list = values.map { ReportValue.list($0).description } ?? "any"
        return .text(whenMissing == .accept ? list + ", or none" : list)
    }
}

extension KeyID {
    /// As Apple's API and the requests write it: standard base64.
    package var base64: String { ReportValue.base64(bytes).description }
}
