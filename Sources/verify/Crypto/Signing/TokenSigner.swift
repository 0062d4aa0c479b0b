/// Signs digests of tokens: in groups with the operator's library where there are enough for a key, else with OpenSSL.
/// A value for one set of keys, shared by all lanes.
package struct TokenSigner: Sendable {
    private let signingLibrary: SigningLibrary?
    /// The keys with which the library signs as OpenSSL does.
    private let tested: [SigningKey]

    /// OpenSSL alone.
    package init() {
        signingLibrary = nil
        tested = []
    }

    /// Tests every key: one with which the library does not sign as OpenSSL does stays with OpenSSL, with an alarm.
    package init(_ library: SigningLibrary, keys: [(name: String, key: SigningKey)]) {
        signingLibrary = library
        tested = keys.compactMap { name, key in
            // What is held elsewhere has no numbers for a library.
            guard key.held == nil, library.isUsed(for: key.kind), library.signer.canSign(with: key) else { return nil }
            guard SigningTest.passes(library.signer, key) else {
                library.refuse(name)
                return nil
            }
            return key
        }
    }

    package func usesLibrary(for key: SigningKey) -> Bool { tested.contains { $0 === key } }

    /// - Parameter step: called before each signature of a key that is held elsewhere, which may take long.
    /// - Returns: a signature for each request, in order; empty where a key does not sign. Every one of the library's was
    ///   verified.
    package func sign(
        _ requests: [SigningRequest],
        _ scratch: SigningScratch,
        step: () -> Void = {}
    ) -> [[UInt8]] {
        var signatures = [[UInt8]](repeating: [], count: requests.count)
        if let library = signingLibrary {
            for key in tested where library.isUsed(for: key.kind) {
                signInGroups(requests, key, library, scratch, &signatures)
            }
        }
        for index in requests.indices where signatures[index].isEmpty {
            let key = requests[index].key
            if key.held != nil { step() }
            signatures[index] = key.signature(of: requests[index].digest) ?? []
        }
        return signatures
    }

    private func signInGroups(
        _ requests: [SigningRequest],
        _ key: SigningKey,
        _ library: SigningLibrary,
        _ scratch: SigningScratch,
        _ signatures: inout [[UInt8]]
    ) {
        let places = requests.indices.filter { requests[$0].key === key }
        // What is left of the last group may be too little for the library.
        let rest = places.count % GroupSize.group
        let digests = places.dropLast(rest < GroupSize.least(key.kind) ? rest : 0).map { requests[$0].digest }
        guard !digests.isEmpty else { return }
        guard let made = Self.sign(digests, key, library.signer),
            scratch.areValid(made, of: digests, key)
        else {
            // None of them counts: OpenSSL signs all.
            return library.stop(key.kind)
        }
        for (place, signature) in zip(places, made) { signatures[place] = signature }
        library.noteSigned(made.count)
    }

    /// - Returns: a signature for each digest; nil where the library reports an error.
    private static func sign(_ digests: [Digest], _ key: SigningKey, _ signer: any GroupSigner) -> [[UInt8]]? {
        var signatures: [[UInt8]] = []
        signatures.reserveCapacity(digests.count)
        for start in stride(from: 0, to: digests.count, by: GroupSize.group) {
            let group = digests[start..<min(start + GroupSize.group, digests.count)]
            // Places without a digest repeat the last one; what comes of them is dropped.
            let filler = [Digest](repeating: digests[digests.count - 1], count: GroupSize.group - group.count)
            guard let made = signer.sign(group + filler, with: key), made.count == GroupSize.group else { return nil }
            signatures += made.prefix(group.count)
        }
        return signatures
    }
}

/// A digest to be signed, and the key.
package struct SigningRequest: Sendable {
    package let key: SigningKey
    package let digest: Digest

    package init(key: SigningKey, digest: Digest) { (self.key, self.digest) = (key, digest) }
}

/// Compares a library's signatures with OpenSSL's before the library may sign with a key.
enum SigningTest {
    /// Whether the library signs as OpenSSL does: each of eight digests at each of the eight places.
    static func passes(_ signer: any GroupSigner, _ key: SigningKey) -> Bool {
        let digests = (0..<GroupSize.group).map { SHA256.hash([UInt8($0)] + Array("attest-worker".utf8)) }
        // RSA is deterministic: OpenSSL's own bytes. ES256 is not: what OpenSSL verifies.
        let expected = key.kind == .rsa ? digests.map { key.sign($0) } : []
        return digests.indices.allSatisfy { turn in
            let places = digests.indices.map { ($0 + turn) % GroupSize.group }
            guard let signatures = signer.sign(places.map { digests[$0] }, with: key),
                signatures.count == GroupSize.group
            else { return false }
            return zip(places, signatures).allSatisfy { place, signature in
                key.kind == .rsa
                    ? signature == expected[place] : key.publicKey.isValid(signature.span, of: digests[place])
            }
        }
    }
}
