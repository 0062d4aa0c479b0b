import AppCheck
import Broker
import Kafka
import KafkaPorts
import Streams
import Testing

/// A dead letter read back: the request as it was.
@Suite("Dead letters read back")
struct DeadLetterTests {
    private static let marks = [
        RecordHeader("dlq.reason", "internal"), RecordHeader("dlq.topic", "t"), RecordHeader("dlq.partition", "2"),
        RecordHeader("dlq.offset", "17"),
    ]

    private static func record(_ headers: [RecordHeader]?) -> TopicRecord {
        TopicRecord(partition: 2, offset: 4, key: [1], value: [2], timestamp: 5, headers: headers)
    }

    @Test func `the request has its own headers, and its old place as its id where it had none`() throws {
        let own = [RecordHeader("a", "1"), RecordHeader("a", "2"), RecordHeader(name: [0xFF], value: nil)]
        let letter = try #require(DeadLetter(Self.record(own + Self.marks), requestIDBytes: 128))
        #expect(letter.headers == own + [RecordHeader("request-id", "t/2/17")])
        #expect(letter.reason == .internal && letter.origin == "t/2/17" && !letter.isTruncated)
        #expect(letter.key == [1] && letter.value == [2] && letter.timestamp == 5)
        let named = [RecordHeader("request-id", "r")]
        #expect(DeadLetter(Self.record(named + Self.marks), requestIDBytes: 128)?.headers == named)
        // An id over the limit would make a dead letter of it for that alone.
        #expect(DeadLetter(Self.record(own + Self.marks), requestIDBytes: 5)?.headers == own)
    }

    @Test func `a value that was left out shows`() {
        let headers = Self.marks + [RecordHeader("dlq.truncated", "true")]
        #expect(DeadLetter(Self.record(headers), requestIDBytes: 128)?.isTruncated == true)
    }

    @Test(arguments: 0..<4)
    func `a record without one of the four marks is not a dead letter`(missing: Int) {
        var headers = Self.marks
        headers.remove(at: missing)
        #expect(DeadLetter(Self.record(headers), requestIDBytes: 128) == nil)
    }

    @Test func `neither is one with unreadable headers, or with a reason of another program`() {
        #expect(DeadLetter(Self.record(nil), requestIDBytes: 128) == nil)
        let foreign = [RecordHeader("dlq.reason", "boom")] + Self.marks.dropFirst()
        #expect(DeadLetter(Self.record(foreign), requestIDBytes: 128) == nil)
    }
}
