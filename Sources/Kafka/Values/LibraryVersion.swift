internal import CRdkafka

/// The version of librdkafka in this process.
package enum LibraryVersion {
    /// In the library's notation: 0x020002ff is 2.0.2.
    package static var current: Int { Int(rd_kafka_version()) }

    /// As people write it: `2.0.2`.
    package static var text: String {
        // A static text of the library.
        unsafe rd_kafka_version_str().map { unsafe String(cString: $0) } ?? ""
    }

    /// The first version whose seek keeps to its time-out in milliseconds (librdkafka #4230): 2.1.0.
    static let seeksInMilliseconds = 0x0201_00ff
}
