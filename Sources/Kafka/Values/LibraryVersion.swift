internal import CRdkafka

/// The version of librdkafka in this process.
package enum LibraryVersion {
    /// In the library's notation: 0x020002ff is 2.0.2.
    package static var current: Int { Int(rd_kafka_version()) }
}
