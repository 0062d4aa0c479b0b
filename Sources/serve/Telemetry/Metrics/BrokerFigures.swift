internal import JSON

/// Figures of brokers and partitions from librdkafka's statistics, those of several clients together.
package struct BrokerFigures {
    struct Broker: Equatable {
        var id: Int64
        /// A client is connected.
        var isUp = false
        /// The attempts to connect, those that failed included.
        var attempts: Int64 = 0

        /// The broker as log lines name it.
        func named(_ name: String) -> String { "broker \(id) (\(name))" }
    }

    /// The brokers by name. Those that no client has needed are left out.
    private(set) var brokers: [String: Broker] = [:]
    /// The bounds of the requests' partitions.
    private(set) var ends: [Int32: PartitionEnds] = [:]

    /// A thousand partitions have a tenth of them.
    private static let mostNodes = 1_000_000

    init() {}

    /// - Parameters:
    ///   - statistics: of each client, JSON; an empty one says nothing.
    ///   - topic: of the requests.
    init(_ statistics: [[UInt8]], topic: String) {
        for bytes in statistics where !bytes.isEmpty {
            guard let root = (try? JSONDocument(parsing: bytes, maxNodes: Self.mostNodes))?.root else { continue }
            root["brokers"]?.members.forEach { add(broker: $0.value) }
            let name = Array(topic.utf8)
            let partitions = root["topics"]?.members.first { $0.name == name }?.value["partitions"]
            partitions?.members.forEach { add(partition: $0.value) }
        }
    }

    /// Whether every broker that a client knows is gone; false where nothing is known.
    var isAway: Bool { !brokers.isEmpty && !brokers.values.contains(where: \.isUp) }

    private mutating func add(broker: JSONNode) {
        // Bootstrap addresses and coordinators are other names of the same brokers.
        guard let id = broker["nodeid"]?.integer, id >= 0, let name = broker["nodename"]?.string, !name.isEmpty,
            broker["source"]?.string != "logical", let attempts = broker["connects"]?.integer, attempts > 0
        else { return }
        let isUp = broker["state"]?.string == "UP"
        brokers[name, default: Broker(id: id)].isUp = isUp || brokers[name]?.isUp ?? false
        brokers[name]?.attempts += attempts
    }

    private mutating func add(partition: JSONNode) {
        guard let number = partition["partition"]?.integer.flatMap({ Int32(exactly: $0) }), number >= 0 else { return }
        guard let stable = partition["ls_offset"]?.integer, stable >= 0 else { return }
        // A client that has lost the partition knows older ones.
        var ends = ends[number] ?? PartitionEnds()
        ends.stable = max(ends.stable, stable)
        ends.high = max(ends.high, ends.stable, partition["hi_offset"]?.integer ?? 0)
        if let low = partition["lo_offset"]?.integer, low >= 0 { ends.low = low }
        self.ends[number] = ends
    }
}

/// The first offset and the end of a partition of the requests, as a client knows it without asking.
struct PartitionEnds: Equatable {
    var low: Int64 = 0
    /// The last stable offset: what lies behind it is not read before an open transaction has ended.
    var stable: Int64 = 0
    /// The high watermark.
    var high: Int64 = 0

    /// Offsets that are still to be answered.
    ///
    /// - Parameter position: up to where everything is answered, markers behind the last record included; nil = nothing
    ///   was ever committed.
    func lag(behind position: Int64?) -> Int64 { max(0, high - (position ?? low)) }

    /// Offsets that open transactions hold back.
    var unstable: Int64 { max(0, high - stable) }
}
