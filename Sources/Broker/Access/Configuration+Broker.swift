package import Kafka
internal import KafkaPorts
package import Settings

extension Configuration {
    /// kafka.properties, for clients of the broker that it names. Only `replay` and the embedded broker do without one.
    ///
    /// - Throws: ``ConfigurationFault`` where no broker is named, or no client can be made of the lines.
    package func brokerProperties() throws(ConfigurationFault) -> [(String, String)] {
        if let kafkaPropertyFault { throw kafkaPropertyFault }
        let properties = KafkaProperties(kafkaProperties.map { ($0.name, $0.value) })
        let complaints = properties.pairs.compactMap { pair in
            KafkaProperties.complaint(about: pair.name, pair.value).map { "kafka.properties: \(pair.name): \($0)." }
        }
        guard complaints.isEmpty else { throw ConfigurationFault(lines: complaints) }
        guard ["bootstrap.servers", "metadata.broker.list"].contains(where: { properties[$0]?.isEmpty == false }) else {
            throw ConfigurationFault(
                "kafka.properties: bootstrap.servers is missing; set it to the brokers' addresses, such as 127.0.0.1:9092."
            )
        }
        if properties.lacksTokens {
            throw ConfigurationFault(
                "kafka.properties: sasl.mechanisms=OAUTHBEARER has nowhere to get tokens from; set "
                    + "sasl.oauthbearer.method=oidc, the client's id, its secret and the token endpoint."
            )
        }
        // librdkafka judges combinations of lines, and the files that they name, only when a client is made.
        _ = try ConfigurationFault.explaining { () throws(KafkaFault) in try Admin(properties) }
        return properties.pairs.map { ($0.name, $0.value) }
    }
}

extension ConfigurationFiles {
    /// Files whose properties the library judges as they are read, so that one run shows all that is wrong.
    package static func ofClient(_ directory: String) -> ConfigurationFiles {
        var files = ConfigurationFiles(directory: directory)
        files.propertyComplaint = KafkaProperties.complaint
        return files
    }
}

extension KafkaProperties {
    /// Whether OAUTHBEARER has no source of tokens: librdkafka would wait for one, silently.
    fileprivate var lacksTokens: Bool {
        let mechanism = self["sasl.mechanisms"] ?? self["sasl.mechanism"]
        return (self["security.protocol"] ?? "").lowercased().hasPrefix("sasl") && mechanism == "OAUTHBEARER"
            && self["sasl.oauthbearer.method"] != "oidc" && self["enable.sasl.oauthbearer.unsecure.jwt"] != "true"
    }
}

extension PartitionerSetting {
    /// nil = keys are not checked against their partition.
    package var partitioner: Partitioner? {
        switch self {
        case .murmur2: .murmur2
        case .crc32: .crc32
        case .unchecked: nil
        }
    }
}
