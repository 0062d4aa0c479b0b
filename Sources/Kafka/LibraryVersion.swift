internal import CRdkafka

/// The librdkafka that this process runs with.
package enum LibraryVersion {
    /// As the library writes it: 0x020002ff is 2.0.2.
    package static var current: Int { Int(rd_kafka_version()) }
}
