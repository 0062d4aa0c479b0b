internal import JSON

/// What librdkafka's statistics say of brokers and partitions; of several clients together.
struct BrokerFigures {
    /// By name: whether a client is connected. Brokers that no client has needed are left out.
    private(set) var up: [String: Bool] = [:]
    /// Last stable offsets of the requests' partitions, and the first ones.
    private(set) var ends: [Int32: Int64] = [:]
    private(set) var beginnings: [Int32: Int64] = [:]

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
    var isAway: Bool { !up.isEmpty && !up.values.contains(true) }

    private mutating func add(broker: JSONNode) {
        // Bootstrap addresses and coordinators are other names of the same brokers.
        guard let id = broker["nodeid"]?.integer, id >= 0, let name = broker["nodename"]?.string, !name.isEmpty,
            broker["source"]?.string != "logical", broker["connects"]?.integer ?? 0 > 0
        else { return }
        let isUp = broker["state"]?.string == "UP"
        up[name] = isUp || up[name] ?? false
    }

    private mutating func add(partition: JSONNode) {
        guard let number = partition["partition"]?.integer.flatMap({ Int32(exactly: $0) }), number >= 0 else { return }
        if let end = partition["ls_offset"]?.integer, end >= 0 { ends[number] = max(end, ends[number] ?? 0) }
        if let low = partition["lo_offset"]?.integer, low >= 0 { beginnings[number] = low }
    }
}
