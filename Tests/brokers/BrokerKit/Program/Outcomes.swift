internal import SimulationKit
package import Streams
internal import Testing

extension RecordPlace: Comparable, CustomStringConvertible {
    package static func < (left: RecordPlace, right: RecordPlace) -> Bool {
        (left.partition, left.offset) < (right.partition, right.offset)
    }

    package var description: String { "\(partition)/\(offset)" }
}

extension InboundRecord {
    /// The last header of this name as text; nil = it has none.
    package func text(of header: String) -> String? {
        headers.last { $0.name == Array(header.utf8) }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
}

/// What a worker wrote about the requests of a topic: exactly one outcome for each, or issues are recorded.
package struct Outcomes {
    package let requests: [RecordPlace: InboundRecord]
    package private(set) var results: [RecordPlace: InboundRecord] = [:]
    package private(set) var deadLetters: [RecordPlace: InboundRecord] = [:]

    /// `accepted`, the reason, or a dead letter's reason in brackets.
    package private(set) var summaries: [RecordPlace: String] = [:]

    package init(of workplace: ProgramWorkplace) throws {
        let sent = try workplace.records(of: workplace.requests)
        requests = Dictionary(uniqueKeysWithValues: sent.map { (RecordPlace($0), $0) })
        for record in try workplace.records(of: workplace.topic("results")) { try take(result: record) }
        for record in try workplace.records(of: workplace.topic("dead-letters")) {
            try take(deadLetter: record, topic: workplace.requests)
        }
        let places = Set(results.keys).union(deadLetters.keys)
        #expect(places == Set(requests.keys), "every request has an outcome, and nothing else has")
        #expect(results.count + deadLetters.count == requests.count)
    }

    /// How many outcomes there are of each kind.
    package var counts: [String: Int] { summaries.values.reduce(into: [:]) { $0[$1, default: 0] += 1 } }

    private mutating func take(result record: InboundRecord) throws {
        let result = try ReadResult(
            OutboundRecord(
                stream: .results,
                partition: record.partition,
                sourceOffset: 0,
                sourceTimestamp: 0,
                key: record.key,
                value: record.value
            )
        )
        let place = RecordPlace(partition: try #require(Int32(exactly: result.partition)), offset: result.offset)
        #expect(record.partition == place.partition, "outputs keep their request's partition")
        #expect(record.key == requests[place]?.key)
        if results.updateValue(record, forKey: place) != nil { Issue.record("\(place) has two results") }
        summaries[place] = result.summary
    }

    private mutating func take(deadLetter record: InboundRecord, topic: String) throws {
        let place = RecordPlace(
            partition: try #require(record.text(of: "dlq.partition").flatMap { Int32($0) }),
            offset: try #require(record.text(of: "dlq.offset").flatMap { Int64($0) })
        )
        #expect(record.partition == place.partition, "outputs keep their request's partition")
        #expect(record.text(of: "dlq.topic") == topic)
        if deadLetters.updateValue(record, forKey: place) != nil { Issue.record("\(place) has two dead letters") }
        let reason = try #require(record.text(of: "dlq.reason"))
        summaries[place] = "[\(reason)]"
    }
}
