internal import CRdkafka

/// The version of librdkafka in this process.
package enum LibraryVersion {
    /// In the library's notation: 0x020002ff is 2.0.2.
    package static var current: Int { Int(rd_kafka_version()) }

    /// The first version whose seek keeps to its time-out in milliseconds (librdkafka #4230): 2.1.0.
    static let seeksInMilliseconds = 0x0201_00ff
}
