internal import CRdkafka
internal import Threads

/// The time by which brokers held back their answers to this process's clients, since one had exceeded a quota.
package enum ClientThrottles {
    private static let total = Locked<[String: Int]>([:])

    /// The milliseconds by the broker's name.
    package static var milliseconds: [String: Int] { total.withLock { $0 } }

    static func note(_ broker: String, _ milliseconds: Int) {
        // The library also tells that a broker holds back nothing any more.
        guard milliseconds > 0 else { return }
        total.withLock { $0[broker, default: 0] += milliseconds }
    }

    /// Clients call back where they are polled.
    static func register(in configuration: OpaquePointer) {
        unsafe rd_kafka_conf_set_throttle_cb(configuration) { _, broker, _, milliseconds, _ in
            // The library's text, copied at once.
            guard let broker = unsafe broker else { return }
            unsafe ClientThrottles.note(String(cString: broker), Int(milliseconds))
        }
    }
}
