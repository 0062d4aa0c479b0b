internal import AppCheck
internal import Broker
internal import DeviceLab
internal import Kafka
internal import Run
internal import Settings
internal import Streams
internal import Traffic

/// What the parts of a demo share: its configuration, its broker and authority, and its topics from outside of the
/// worker.
struct DemoStage {
    let loaded: LoadedConfiguration
    /// The same, on the demo's broker.
    let configuration: Configuration
    let access: BrokerAccess
    let partitions: Int32
    let ca: LabCA

    init(_ loaded: LoadedConfiguration, directory: String, embedsBroker: Bool) throws {
        var configuration = loaded.configuration
        configuration.embeddedBroker = embedsBroker
        access = try BrokerAccess(configuration, instance: "demo")
        partitions = try access.partitions().requests
        ca = try NewConfiguration.authority(of: directory)
        (self.loaded, self.configuration) = (loaded, configuration)
    }

    /// librdkafka's.
    var properties: [(String, String)] { access.settings.properties }

    /// Properties of clients outside of the worker's group.
    var readerProperties: [(String, String)] { properties.map { $0.0 == "group.id" ? ($0.0, "demo-reader") : $0 } }

    var topic: RequestTopic { RequestTopic(murmur2: configuration.topics.requests, partitions: partitions) }

    func link() throws -> KafkaStockLink {
        try KafkaStockLink(properties: readerProperties, topics: configuration.topics, partitions: partitions)
    }

    /// Stock clients of the configuration's app, which wait for the worker's answers.
    func fleet(of devices: Int, seed: UInt64, link: any StockLink, prefix: String = "stock") -> StockFleet {
        let members = StockFleet.members(
            configuration.registry.apps.compactMap(SimulatedApp.init),
            ca: ca,
            devices: devices,
            seed: seed,
            wishes: [.session, .refresh, .limitedUse]
        )
        return StockFleet(members, link: link, prefix: prefix)
    }

    func publish(_ records: [InboundRecord], keepsPartitions: Bool) throws {
        var options = CapturePublisher.Options()
        options.keepsPartitions = keepsPartitions
        let publisher = try CapturePublisher(
            properties: properties,
            topic: configuration.topics.requests,
            options: options
        )
        var rest = records[...]
        let report = try publisher.publish {
            rest.popFirst().map {
                PublishRecord(key: $0.key, value: $0.value, headers: $0.headers, partition: $0.partition)
            }
        }
        guard report.isComplete else {
            throw CommandFault("the broker did not take the records: \(report.firstFailure ?? "no reason given").")
        }
    }
}

extension RequestTopic {
    /// A topic whose producers choose partitions as Java clients do.
    package init(murmur2 name: String, partitions: Int32) {
        self.init(name: name, partitions: partitions) { Partitioner.murmur2.partition(of: $0, count: partitions) }
    }
}
