internal import KafkaPorts
internal import Streams

/// Reads a topic of ledgers, and notes what it sees.
private final class ScriptedReader {
    let reader: any TopicReading
    private(set) var offsets: [Int32: [Int64]] = [:]
    private(set) var faults: [KafkaFault] = []

    init(_ reader: any TopicReading) { self.reader = reader }

    var count: Int { offsets.values.reduce(0) { $0 + $1.count } }

    func poll(most: Int = 100) {
        do throws(KafkaFault) {
            let chunk = try reader.poll(most: most, waiting: 20)
            for (place, offset) in zip(chunk.records.places, chunk.offsets) {
                offsets[place.partition, default: []].append(offset)
            }
        } catch { faults.append(error) }
    }
}

extension ContractWorld {
    fileprivate func read(_ reader: ScriptedReader, until what: String, _ condition: () -> Bool) throws {
        try until(what, progress: { reader.count + reader.faults.count }) {
            reader.poll()
            return condition()
        }
    }

    fileprivate func newReader(_ name: String = "one") throws -> ScriptedReader {
        ScriptedReader(try process(name, isStatic: false).makeReader())
    }

    /// What a reader sees of the first partition of ledgers up to an offset, as `key=value`.
    fileprivate func ledger(upTo end: Int64) throws -> [String] {
        let reader = try process("reader", isStatic: false).makeReader()
        defer { reader.discard() }
        try reader.start([starts[0]])
        var texts: [String] = []
        try until("the ledger is read", progress: { texts.count }) {
            texts += try reader.poll(most: 100, waiting: 20).records.records.map { record in
                let value = record.value.map { String(decoding: $0, as: UTF8.self) }
                return "\(String(decoding: record.key, as: UTF8.self))=\(value ?? "none")"
            }
            return reader.position(of: 0).map { $0 >= end } ?? false
        }
        return texts
    }
}

extension ContractScript {
    static let r1 = onReal(
        "R1: reading to the high watermark past an open transaction",
        ends: ["waitsThenEnds"]
    ) { world in
        try world.publish(3, to: 0, of: .ledger)
        let producer = try ScriptedProducer(world, "one")
        try producer.open(2)
        let reader = try world.newReader("reader")
        try reader.reader.start([world.starts[0]])
        try world.read(reader, until: "the first records come") { reader.count >= 3 }
        try world.during(milliseconds: 1_000) { reader.poll() }
        guard reader.count == 3, reader.reader.position(of: 0).map({ $0 < 5 }) ?? true else { return "early" }
        try producer.abort()
        // The aborted records and the marker give no record, and the position passes them.
        try world.read(reader, until: "the end is reached") { reader.reader.position(of: 0).map { $0 >= 5 } ?? false }
        reader.reader.discard()
        return reader.count == 3 && reader.faults.isEmpty ? "waitsThenEnds" : "wrong"
    }

    static let r3 = onMock("R3: a stopped partition is silent, and starts again", ends: ["silentThenAll"]) { world in
        for partition in 0..<2 as Range<Int32> { try world.publish(200, to: partition, of: .ledger) }
        let reader = try world.newReader()
        try reader.reader.start(Array(world.starts.prefix(2)))
        try world.until("records come", progress: { reader.count }) {
            reader.poll(most: 1)
            return reader.count > 0
        }
        try reader.reader.stop([1])
        let before = reader.offsets[1]?.count ?? 0
        try world.read(reader, until: "the other partition is read") { reader.reader.position(of: 0) == 200 }
        try world.during(milliseconds: 300) { reader.poll() }
        guard reader.offsets[1]?.count ?? 0 == before else { return "notSilent" }
        try reader.reader.start([PartitionOffset(partition: 1, offset: PartitionOffset.beginning)])
        try world.read(reader, until: "it is read again") { reader.reader.position(of: 1) == 200 }
        let again = Array((reader.offsets[1] ?? []).dropFirst(before))
        reader.reader.discard()
        return again == Array(0..<200) && reader.offsets[0] == Array(0..<200) ? "silentThenAll" : "wrong"
    }

    static let r4 = onMock(
        "R4: a missing offset shows after the records before it",
        ends: ["faultOfPartition"]
    ) { world in
        for partition in 0..<2 as Range<Int32> { try world.publish(10, to: partition, of: .ledger) }
        let reader = try world.newReader()
        try reader.reader.start([
            PartitionOffset(partition: 0, offset: 0), PartitionOffset(partition: 1, offset: 5_000),
        ])
        // Records that were read before the fault have come by then, the others come behind it.
        try world.read(reader, until: "fault and records come") { !reader.faults.isEmpty && reader.count == 10 }
        reader.reader.discard()
        let isRight = reader.faults.allSatisfy { $0.partition == 1 && $0.isOffsetGone }
        return isRight && reader.offsets[0] == Array(0..<10) ? "faultOfPartition" : "otherFault"
    }

    static let r2 = onReal(
        "R2: tombstones, empty values, compacted gaps, markers",
        ends: ["allThenLastOfEachKey"]
    ) { world in
        let (producer, record) = (try ScriptedProducer(world, "one"), ScriptedProducer.record(_:_:partition:))
        try producer.transact([record("k", "1", 0), record("k", "2", 0), record("e", "", 0)])
        try producer.transact([record("k", nil, 0), record("m", "3", 0)])
        guard try world.ledger(upTo: 7) == ["k=1", "k=2", "e=", "k=none", "m=3"] else { return "wrong" }
        try world.cause(.compaction)
        var (end, texts): (Int64, [String]) = (7, [])
        try world.until("the ledger is compacted", progress: { Int(min(end, 100)) }) {
            try producer.transact([record("z", "4", 0)])
            end += 2
            texts = try world.ledger(upTo: end)
            return !texts.contains("k=1")
        }
        return texts.filter { $0 != "z=4" } == ["e=", "k=none", "m=3"] ? "allThenLastOfEachKey" : "wrong"
    }

    static let r5 = ContractScript(
        "R5: a reader leaves no trace in any group",
        in: [.real],
        ends: ["noGroup"]
    ) { world in
        try world.publish(3, to: 0, of: .ledger)
        let reader = try world.newReader()
        try reader.reader.start([world.starts[0]])
        try world.read(reader, until: "the records are read") { reader.count == 3 }
        guard try !world.hasGroup() else { return "group" }
        reader.reader.discard()
        return try world.hasGroup() ? "group" : "noGroup"
    }
}
