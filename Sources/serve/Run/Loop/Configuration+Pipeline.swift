package import AppAttest
package import AppCheck
internal import Broker
package import Crypto
internal import Kafka
package import Pipeline
package import Settings

extension Configuration {
    /// The roots, parsed.
    ///
    /// - Throws: ``ConfigurationFault`` naming the file that is not a certificate.
    package func trustAnchors() throws(ConfigurationFault) -> TrustAnchors {
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

    /// The settings that every mode shares; live mode adds the partition check.
    package func pipelineSettings(_ keys: KeyRings) -> PipelineSettings {
        var settings = PipelineSettings(registry: registry, limits: limits)
        (settings.keys, settings.clock) = (self.keys, clock)
        settings.exchange = ExchangeSettings(keys: keys)
        settings.exchange.challenges = challenges
        settings.hasReceipts = topics.receipts != nil
        return settings
    }

    /// The settings of a worker on a broker.
    package func liveSettings(
        _ keys: KeyRings,
        signer: TokenSigner = TokenSigner(),
        partitions: TopicPartitions
    ) -> PipelineSettings {
        var settings = pipelineSettings(keys)
        settings.exchange.signer = signer
        settings.exchange.partitions = Int(partitions.requests)
        // Without the topic no `reply-to` names a partition.
        settings.replyPartitions = partitions.replies ?? 0
        settings.exchange.randomBytes = { SecureRandom.bytes($0) }
        if let partitioner = partitioner.partitioner {
            settings.partitionOfKey = { partitioner.partition(of: $0, count: partitions.requests) }
        }
        let largest = kafkaProperties.last { $0.name == "message.max.bytes" }.flatMap { Int($0.value) }
        settings.maxRecordBytes = (largest ?? Self.defaultMessageBytes) - Self.recordOverhead
        return settings
    }

    private static let defaultMessageBytes = 1_000_000
    /// Room below the producer's limit for a record's bytes beside its key, value and headers.
    private static let recordOverhead = 2048
}
