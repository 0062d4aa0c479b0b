internal import Crypto
internal import Glibc
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
        if let problem = properties.tokenProblem { throw ConfigurationFault("kafka.properties: \(problem).") }
        // librdkafka judges combinations of lines, and the files that they name, only when a client is made.
        _ = try ConfigurationFault.explaining { () throws(KafkaFault) in try Admin(properties.withoutBrokers) }
        properties[KafkaProperties.tokenCommand].map(TokenKeeper.keep)
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
    /// The fault of properties that name no source of tokens for OAUTHBEARER, or two.
    fileprivate var tokenProblem: String? {
        let isMechanism = (self["sasl.mechanisms"] ?? self["sasl.mechanism"]) == "OAUTHBEARER"
        let isSASL = (self["security.protocol"] ?? "").lowercased().hasPrefix("sasl")
        let others = [("sasl.oauthbearer.method", "oidc"), ("enable.sasl.oauthbearer.unsecure.jwt", "true")]
            .filter { self[$0.0]?.lowercased() == $0.1 }.map { "\($0)=\($1)" }
        guard let command = self[KafkaProperties.tokenCommand] else {
            // librdkafka would wait for a token, silently.
            guard isSASL, isMechanism, others.isEmpty else { return nil }
            return
                "sasl.mechanisms=OAUTHBEARER has nowhere to get tokens from; set \(KafkaProperties.tokenCommand) to a program "
                + "that prints them, or sasl.oauthbearer.method=oidc, the client's id, its secret and the token endpoint"
        }
        guard isSASL, isMechanism else {
            return "\(KafkaProperties.tokenCommand) needs security.protocol=sasl_ssl and sasl.mechanisms=OAUTHBEARER"
        }
        if let other = others.first { return "tokens come from \(KafkaProperties.tokenCommand) alone; remove \(other)" }
        return Self.programProblem(String(command.prefix { $0 != " " })).map {
            "\(KafkaProperties.tokenCommand): \($0)"
        }
    }

    /// The fault of a program that would run with this process's rights.
    private static func programProblem(_ program: String) -> String? {
        // The path is copied for the call.
        guard unsafe access(program, X_OK) == 0 else {
            return "\(program) cannot be run: \(POSIXText.describe(errno))"
        }
        do throws(CodeFault) { close(try CodeFile.open(program)) } catch { return "\(program) \(error)" }
        return nil
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
