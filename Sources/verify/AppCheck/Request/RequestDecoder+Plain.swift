internal import AppAttest
internal import JSON

/// Ordinary attestations and assertions: read in one pass, without a tree of their JSON. Whatever is unusual is left to
/// ``RequestDecoder/decode(_:paths:)``, which gives the same request for what is understood here.
extension RequestDecoder {
    /// - Parameter recordKey: the request's key ID must be written in the same way.
    /// - Returns: nil unless the request is well-formed, an object's, and of this key.
    package func plainRequest(_ value: Span<UInt8>, recordKey: Span<UInt8>, paths: inout RequestPaths) -> Request? {
        guard value.count <= limits.valueBytes, let keyID = KeyID(recordKey: recordKey) else { return nil }
        var cursor = JSONCursor(0..<value.count)
        var (path, body): (Range<Int>?, PlainBody?)
        guard cursor.take("{", value) else { return nil }
        repeat {
            guard let name = cursor.string(value), cursor.take(":", value) else { return nil }
            if path == nil, JSONCursor.holds("path", value.extracting(name)) {
                path = cursor.string(value)
                guard path != nil else { return nil }
            } else if body == nil, JSONCursor.holds("body", value.extracting(name)) {
                body = PlainBody(&cursor, value)
                guard body != nil else { return nil }
            } else {
                return nil
            }
        } while cursor.take(",", value)
        guard cursor.take("}", value), cursor.isAtEnd(value), let path, let body else { return nil }
        return paths.with(value.extracting(path), self) { plainRequest(value, body, keyID, recordKey, $0) }
    }

    private func plainRequest(
        _ value: Span<UInt8>,
        _ body: PlainBody,
        _ keyID: KeyID,
        _ recordKey: Span<UInt8>,
        _ path: RequestPaths.Path
    ) -> Request? {
        guard case .success(let target) = path.target, let object = body.object(of: target.verb),
            let binding = binding(value, body, keyID, recordKey, target),
            let bytes = Base64.decode(value.extracting(object))
        else { return nil }
        return Request(
            path: path.echo,
            resource: target.resource,
            isBeta: target.isBeta,
            verb: target.verb,
            keyID: keyID,
            body: .object(target.verb.bringsAttestation ? .attestation(bytes) : .assertion(bytes), binding)
        )
    }

    /// The hash or the exchange that the object was made over; nil unless its members are there, and no others.
    private func binding(
        _ value: Span<UInt8>,
        _ body: PlainBody,
        _ keyID: KeyID,
        _ recordKey: Span<UInt8>,
        _ target: RequestTarget
    ) -> Request.Binding? {
        var artifact: [UInt8]?
        switch target.verb.keySource {
        case .keyID:
            guard body.artifact == nil, let named = body.keyID, Bytes.areEqual(value.extracting(named), recordKey)
            else { return nil }
        case .artifact:
            guard body.keyID == nil, let text = body.artifact, let bytes = Base64.decode(value.extracting(text)),
                KeyID(unverifiedArtifact: bytes) == keyID
            else { return nil }
            artifact = bytes
        case .absent, .tokenID: return nil
        }
        guard target.verb.isExchange else {
            guard body.challenge == nil, body.limitedUse == nil, let text = body.clientDataHash,
                let hash = Base64.decode(value.extracting(text)),
                hashLength(target).allows(hash.count), hash.count <= limits.clientDataHashBytes
            else { return nil }
            return .clientDataHash(hash)
        }
        guard body.clientDataHash == nil, let text = body.challenge,
            let challenge = Base64.decode(value.extracting(text)), !challenge.isEmpty
        else { return nil }
        return .exchange(Request.Exchange(artifact: artifact, challenge: challenge, limitedUse: body.limitedUse))
    }
}
