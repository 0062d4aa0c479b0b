internal import AppAttest
internal import Pipeline

extension Configuration {
    /// The roots, parsed.
    ///
    /// - Throws: ``ConfigurationFault`` naming the file that is no certificate.
    func trustAnchors() throws(ConfigurationFault) -> TrustAnchors {
        do {
            return try TrustAnchors(
                attestationPEM: anchors.attestation.map(\.pem),
                receiptPEM: anchors.receipt.map(\.pem)
            )
        } catch {
            let files = error.list == .attestation ? anchors.attestation : anchors.receipt
            let name = files.indices.contains(error.index) ? files[error.index].path : "worker.json"
            throw ConfigurationFault("\(name) cannot be an anchor: \(error.reason); give a root certificate in PEM.")
        }
    }

    /// What every mode judges by; live mode adds the partition check.
    var pipelineSettings: PipelineSettings {
        PipelineSettings(
            registry: registry,
            limits: limits,
            maxAge: clock.maxAgeMilliseconds,
            maxAhead: clock.maxAheadMilliseconds
        )
    }
}
