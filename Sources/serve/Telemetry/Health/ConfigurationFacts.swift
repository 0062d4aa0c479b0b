internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Settings

extension LoadedConfiguration {
    /// The keys and whether they sign now. One inside a token that is not open yet is away.
    var signingKeyFacts: [WorkerSnapshot.SigningKey] {
        configuration.signingKeys.filter { $0.state != .revoked }.map { entry in
            let key = keys.rings.tokens[entry.kid]?.key
            return WorkerSnapshot.SigningKey(
                kid: entry.kid,
                algorithm: entry.algorithm.rawValue,
                state: entry.state.rawValue,
                published: keys.signingFilesModifiedAt[entry.kid],
                isAway: key.map { $0.held.map { !$0.isAvailable } } ?? true
            )
        }
    }
}

extension Configuration {
    /// The roots; a file may hold several, and one may stand in several files.
    var anchorExpiries: [WorkerSnapshot.Anchor] {
        let lists = [("attestation", anchors.attestation), ("receipt", anchors.receipt)]
        var seen: Set<String> = []
        return lists.flatMap { list, files in
            files.flatMap { CACertificate.readAny($0.pem) }.compactMap { certificate in
                let fingerprint = Hexadecimal.encode(Array(certificate.digest.bytes.prefix(8)))
                guard seen.insert(list + fingerprint).inserted else { return nil }
                return WorkerSnapshot.Anchor(
                    list: list,
                    subject: certificate.subjectName,
                    fingerprint: fingerprint,
                    expires: certificate.notAfter / 1000
                )
            }
        }
    }
}
