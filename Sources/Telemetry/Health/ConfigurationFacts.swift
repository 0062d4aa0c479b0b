internal import AppCheck
internal import Crypto
internal import Settings

extension LoadedConfiguration {
    /// - Parameter now: milliseconds since 1970; stands in for a file whose time is unknown.
    func signingKeyFacts(now: Int64) -> [WorkerSnapshot.SigningKey] {
        keys.rings.tokens.keys.map { key in
            WorkerSnapshot.SigningKey(
                kid: key.kid,
                algorithm: key.algorithm.rawValue,
                state: key.state.rawValue,
                published: keys.signingFilesModifiedAt[key.kid] ?? now
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
                let digits = certificate.digest.bytes.prefix(8).map { byte in
                    String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
                }
                let fingerprint = digits.joined()
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
