/// A header; Kafka allows null values, any bytes as a name, and one name many times.
package struct KafkaHeader: Sendable, Equatable {
    package var name: [UInt8]
    package var value: [UInt8]?

    package init(name: [UInt8], value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}
