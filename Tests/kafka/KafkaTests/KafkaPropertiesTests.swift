import KafkaPorts
import Testing

@testable import Kafka

struct KafkaPropertiesTests {
    @Test(arguments: [
        ("no.such.property", "1"), ("linger.ms", "soon"), ("session.timeout.ms", "-5"), ("security.protocol", "magic"),
        ("opaque", "1"), ("dr_msg_cb", "1"), ("", "x"), ("client.id", "a\0b"), ("client.\0id", "a"),
    ])
    func `an invalid property is named`(name: String, value: String) {
        let fault = #expect(throws: KafkaFault.self) { try KafkaProperties([(name, value)]).validate() }
        #expect(fault?.message.contains("kafka property \(name)") ?? false)
        #expect(fault?.isRetriable == false)
    }

    @Test(arguments: [
        ("session.timeout.ms", "10s"), ("queued.max.messages.kbytes", "64M"), ("session.timeout.ms", "010000"),
        ("session.timeout.ms", "0x2710"), ("session.timeout.ms", "1e4"), ("session.timeout.ms", "10000.0"),
        ("session.timeout.ms", "10000 ms"), ("session.timeout.ms", "4294977296"), ("session.timeout.ms", "+-10000"),
        ("session.timeout.ms", "10_000"), ("session.timeout.ms", " 10000"), ("session.timeout.ms", "10,000"),
        ("linger.ms", "5ms"), ("linger.ms", "1e2"), ("linger.ms", "."), ("linger.ms", "1.2.3"), ("linger.ms", "0x5"),
        ("linger.ms", "+"), ("session.timeout.ms", "+010000"),
        ("topic.request.timeout.ms", "30s"), ("request.timeout.ms", "30s"), ("socket.keepalive.enable", "yes"),
    ])
    func `a number that the library would read in part, or as another, is refused`(name: String, value: String) {
        let complaint = KafkaProperties.complaint(about: name, value)
        #expect(complaint != nil)
        let fault = #expect(throws: KafkaFault.self) { try KafkaProperties([(name, value)]).validate() }
        #expect(fault?.message.contains(name) ?? false)
    }

    @Test(arguments: [
        ("session.timeout.ms", "10000"), ("linger.ms", "0"), ("linger.ms", "0.5"), ("linger.ms", "900000"),
        ("linger.ms", ".5"), ("linger.ms", "5."), ("linger.ms", "+5"), ("session.timeout.ms", "+10000"),
        ("request.required.acks", "all"), ("request.required.acks", "-1"), ("compression.level", "-1"),
        ("client.id", "007"), ("client.id", "10s"), ("sasl.password", "10s"), ("socket.keepalive.enable", "1"),
        ("compression.codec", "lz4"), ("debug", "all"), ("topic.request.timeout.ms", "30000"),
    ])
    func `a number in full, a word and a text are taken`(name: String, value: String) {
        #expect(KafkaProperties.complaint(about: name, value) == nil)
    }

    @Test func `every number that the library knows is judged`() {
        let numbers = PropertyTable.rows.filter { ["integer", "float"].contains($0.value.type) }
        #expect(numbers.count > 50)
        for (name, row) in numbers {
            #expect(KafkaProperties.complaint(about: name, "1s")?.contains("number") == true, "\(name)")
            #expect(!row.range.isEmpty, "\(name)")
        }
    }

    @Test func `of two properties with one name the later one counts, in the place of the first`() {
        var properties = KafkaProperties([("a", "1"), ("b", "2"), ("a", "3")])
        #expect(properties.pairs.map(\.name) == ["a", "b"])
        #expect(properties["a"] == "3")
        properties["a"] = nil
        #expect(properties["a"] == nil)
        #expect(properties.pairs.map(\.name) == ["b"])
    }

    @Test func `defaults can be overridden, forced settings cannot`() {
        let complete = KafkaProperties([("a", "mine"), ("c", "mine")])
            .completed(defaults: [("a", "default"), ("b", "default")], forced: [("c", "forced")])
        #expect(complete["a"] == "mine")
        #expect(complete["b"] == "default")
        #expect(complete["c"] == "forced")
    }

    @Test(arguments: [
        ([("group.id", "g"), ("partition.assignment.strategy", "cooperative-sticky")], "assignment.strategy"),
        ([("partition.assignment.strategy", "range")], "group.id"), ([("group.id", "")], "group.id"),
    ])
    func `a consumer that could not work is not created`(properties: [(String, String)], named: String) {
        let fault = #expect(throws: KafkaFault.self) { try Consumer(KafkaProperties(properties), topic: "t") }
        #expect(fault?.message.contains(named) ?? false)
    }

    /// As while certificates are replaced. A client that could not be made once took the process along.
    @Test func `a producer whose certificates are gone is refused each time, and the process goes on`() {
        let properties = KafkaProperties([
            ("security.protocol", "ssl"), ("ssl.ca.location", "/no/such/file"), ("log_level", "0"),
        ])
        for _ in 0..<20 {
            let fault = #expect(throws: KafkaFault.self) {
                try TransactionClient(properties, transactionalID: "id")
            }
            #expect(fault?.message.contains("ssl.ca.location") ?? false)
            #expect(throws: KafkaFault.self) { try Producer(properties) }
        }
    }

    @Test(arguments: ["", "^every.*", "a b", "..", "t\0", String(repeating: "x", count: 250)])
    func `an invalid topic name is refused`(topic: String) {
        #expect(throws: KafkaFault.self) { try Consumer(KafkaProperties([("group.id", "g")]), topic: topic) }
    }

    @Test(arguments: [
        ("bootstrap.servers", [ClientKind.consumer, .producer]), ("group.id", [.consumer]), ("acks", [.producer]),
        ("auto.offset.reset", [.consumer]), ("linger.ms", [.producer]), ("no.such.property", [.consumer, .producer]),
    ])
    func `a setting goes to the clients that it applies to`(name: String, kinds: [ClientKind]) {
        #expect(ClientKind.allCases.filter { PropertyTable.applies(name, to: $0) } == kinds)
    }

    @Test func `a consumer and a producer can share one list of properties`() throws {
        let properties = KafkaProperties([
            ("group.id", "g"), ("session.timeout.ms", "6000"), ("linger.ms", "1"), ("log_level", "0"),
        ])
        _ = try Consumer(properties, topic: "requests")
        _ = try Producer(properties)
    }
}
