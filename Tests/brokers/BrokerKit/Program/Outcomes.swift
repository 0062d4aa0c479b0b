package import Kafka
internal import SimulationKit
internal import Streams
internal import Testing

/// Where a request lies.
package struct Place: Hashable, Comparable, CustomStringConvertible {
    package var partition: Int32
    package var offset: Int64

    package init(partition: Int32, offset: Int64) { (self.partition, self.offset) = (partition, offset) }

    package static func < (left: Place, right: Place) -> Bool {
        (left.partition, left.offset) < (right.partition, right.offset)
    }

    package var description: String { "\(partition)/\(offset)" }
}

/// What a worker wrote about the requests of a topic: exactly one outcome for each, or issues are recorded.
package struct Outcomes {
    package let requests: [Place: KafkaRecord]
    package private(set) var results: [Place: KafkaRecord] = [:]
    package private(set) var deadLetters: [Place: KafkaRecord] = [:]

    /// `accepted`, the reason, or a dead letter's reason in brackets.
    package private(set) var summaries: [Place: String] = [:]

    package init(of workplace: ProgramWorkplace) throws {
        let sent = try workplace.records(of: workplace.requests)
        requests = Dictionary(uniqueKeysWithValues: sent.map { (Place($0), $0) })
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

    private mutating func take(result record: KafkaRecord) throws {
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
        let place = Place(partition: try #require(Int32(exactly: result.partition)), offset: result.offset)
        #expect(record.partition == place.partition, "outputs keep their request's partition")
        #expect(record.key == requests[place]?.key)
        if results.updateValue(record, forKey: place) != nil { Issue.record("\(place) has two results") }
        summaries[place] = result.summary
    }

    private mutating func take(deadLetter record: KafkaRecord, topic: String) throws {
        let headers = record.headers
        func text(_ name: String) throws -> String {
            String(decoding: try #require(headers.last { $0.name == Array(name.utf8) }?.value), as: UTF8.self)
        }
        let place = Place(
            partition: try #require(try Int32(text("dlq.partition"))),
            offset: try #require(try Int64(text("dlq.offset")))
        )
        #expect(record.partition == place.partition, "outputs keep their request's partition")
        #expect(try text("dlq.topic") == topic)
        if deadLetters.updateValue(record, forKey: place) != nil { Issue.record("\(place) has two dead letters") }
        summaries[place] = "[\(try text("dlq.reason"))]"
    }
}

extension Place {
    package init(_ record: KafkaRecord) { self.init(partition: record.partition, offset: record.offset) }
}
