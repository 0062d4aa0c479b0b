internal import CBOR

/// An assertion object as offset ranges into the bytes received. Unknown members are ignored, as in attestations.
struct AssertionObject: Sendable {
    let signature: Range<Int>
    let authenticatorData: Range<Int>

    init(_ bytes: Span<UInt8>, limits: ObjectLimits) throws(Refusal) {
        guard bytes.count <= limits.assertionBytes, let members = DeviceMap(bytes, in: 0..<bytes.count),
            case .bytes(let signature)? = members.value(of: "signature", bytes),
            case .bytes(let authenticatorData)? = members.value(of: "authenticatorData", bytes)
        else { throw .malformedAssertion }
        (self.signature, self.authenticatorData) = (signature, authenticatorData)
    }
}

extension ObjectVerifier {
    /// Whether object and hash have an assertion's shape: all that can be judged without the key.
    ///
    /// - Returns: `malformed-assertion` exactly where ``prepareAssertion(_:clientDataHash:key:expectations:)`` gives it.
    package func assertionShape(_ object: [UInt8], clientDataHash: [UInt8]) -> Refusal? {
        AssertionParts(object, clientDataHash: clientDataHash, limits: limits) == nil ? .malformedAssertion : nil
    }
}

/// An assertion's parts, not judged yet.
struct AssertionParts {
    let object: AssertionObject
    let data: AuthenticatorData
    let entries: ExtensionEntries

    /// - Parameter clientDataHash: nil = not judged.
    /// - Returns: nil for any other shape; an empty hash, or one above the limit, has none either.
    init?(_ object: [UInt8], clientDataHash: [UInt8]?, limits: ObjectLimits) {
        let bytes = object.span
        if let clientDataHash, !limits.allows(clientDataHash: clientDataHash) { return nil }
        guard let parsed = try? AssertionObject(bytes, limits: limits), let (data, entries) = Self.read(parsed, bytes)
        else { return nil }
        (self.object, self.data, self.entries) = (parsed, data, entries)
    }

    /// - Returns: nil for data that is too short, whose rest is not a map, or whose announced map is missing.
    static func read(_ object: AssertionObject, _ bytes: Span<UInt8>) -> (AuthenticatorData, ExtensionEntries)? {
        let (range, end) = (object.authenticatorData, AuthenticatorData.byteCount)
        guard let data = AuthenticatorData(range, bytes),
            !AuthenticatorData.lacksAnnouncedMap(range, after: end, bytes),
            let entries = try? ExtensionEntries(range.dropFirst(end), bytes)
        else { return nil }
        return (data, entries)
    }
}
