internal import Kafka
package import KafkaPorts
package import Settings

extension CommandFault {
    /// Does work on the broker, whose fault becomes one sentence.
    ///
    /// - Parameters:
    ///   - trouble: the sentence's beginning.
    ///   - cause: its end, made of the fault.
    package static func explaining<Result>(
        _ trouble: String,
        by cause: (KafkaFault) -> String = { $0.message },
        _ work: () throws -> Result
    ) throws -> Result {
        do { return try work() } catch let fault as KafkaFault { throw CommandFault("\(trouble): \(cause(fault)).") }
    }
}

extension ConfigurationFault {
    /// Makes something of kafka.properties; the fault of a client that cannot be made names the file.
    package static func explaining<Made>(
        properties make: () throws(KafkaFault) -> Made
    ) throws(ConfigurationFault) -> Made {
        do throws(KafkaFault) { return try make() } catch {
            if error.isRecoverable { throw ConfigurationFault(ofWorld: "\(error.message).") }
            throw ConfigurationFault("kafka.properties: \(error.message).")
        }
    }
}
