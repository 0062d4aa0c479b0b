/// A record's header; Kafka allows null values.
package struct RecordHeader: Sendable, Equatable {
    package var name: [UInt8]
    package var value: [UInt8]?

    package init(name: [UInt8], value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    package init(_ name: String, _ value: String) {
        self.init(name: Array(name.utf8), value: Array(value.utf8))
    }
}
