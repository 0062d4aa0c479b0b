import AppAttest
import AppCheck
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

@Suite("Hostile records")
struct HostileInputTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        let value: [UInt8]?
        var key: [UInt8]? = LoopTests.device().keyID.recordKey
        var headers: [RecordHeader] = []
        var timestamp: Int64 = RequestRecords.time
        let expected: String
        var testDescription: String { name }
    }

    private static let good = RequestRecords.attestation(of: LoopTests.device())
    private static let path = RequestRecords.path

    static let cases: [Case] = shapes + keys + headers

    private static let shapes: [Case] = [
        Case(name: "null value", value: nil, expected: "[null-value]"),
        Case(name: "empty value", value: [], expected: "[not-json]"),
        Case(name: "oversized", value: [UInt8](repeating: 0x20, count: 65_537), expected: "[too-large]"),
        Case(name: "not JSON", value: Array("hello".utf8), expected: "[not-json]"),
        Case(name: "no UTF-8", value: [0xFF, 0xFE, 0x00, 0x80], expected: "[not-json]"),
        Case(
            name: "no UTF-8 inside",
            value: Array("{\"path\":\"".utf8) + [0xC0, 0xAF] + Array("\"}".utf8),
            expected: "[not-json]"
        ),
        Case(name: "an array", value: Array("[1,2]".utf8), expected: "[no-path]"),
        Case(name: "no path", value: Array("{\"body\":{}}".utf8), expected: "[no-path]"),
        Case(name: "path is a number", value: Array("{\"path\":7,\"body\":{}}".utf8), expected: "[no-path]"),
        Case(name: "nested a million deep", value: [UInt8](repeating: 0x5B, count: 60_000), expected: "[no-path]"),
        Case(name: "no verb", value: text("v1/projects/p/apps/a", body: "{}"), expected: "malformed-request"),
        Case(name: "the app id's colon is the last", value: text(path, body: "{}"), expected: "unknown-method"),
        Case(name: "foreign verb", value: text("\(path):exchangeDebugToken", body: "{}"), expected: "unknown-method"),
        Case(
            name: "a challenge where there is no key",
            value: text("\(path):generateAppAttestChallenge", body: "{}"),
            expected: "no-active-key"
        ),
        Case(
            name: "foreign app",
            value: text("v1/projects/123456789012/apps/1:1:ios:1:verifyAttestation", body: "{}"),
            expected: "unknown-app"
        ),
        Case(
            name: "no body",
            value: Array("{\"path\":\"\(path):verifyAttestation\"}".utf8),
            expected: "malformed-request"
        ),
        Case(name: "body is a list", value: text("\(path):verifyAssertion", body: "[]"), expected: "malformed-request"),
        Case(
            name: "base64 rubbish",
            value: text(
                "\(path):verifyAssertion",
                body: "{\"keyId\":\"%%%\",\"assertion\":\"??\",\"clientDataHash\":\"AA==\"}"
            ),
            expected: "malformed-request"
        ),
        Case(name: "nested CBOR", value: nestedCBOR, expected: "malformed-attestation"),
        Case(name: "no timestamp", value: good, timestamp: -1, expected: "malformed-request"),
        Case(name: "a time after 9999", value: good, timestamp: Int64.max - 1000, expected: "malformed-request"),
    ]

    private static let keys: [Case] = [
        Case(name: "no key", value: good, key: nil, expected: "key-mismatch"),
        Case(name: "empty key", value: good, key: [], expected: "key-mismatch"),
        Case(name: "foreign key", value: good, key: LoopTests.device(2).keyID.recordKey, expected: "key-mismatch"),
        Case(
            name: "unpadded key",
            value: good,
            key: LoopTests.device().keyID.recordKey.dropLast(),
            expected: "key-mismatch"
        ),
        Case(name: "key is no UTF-8", value: good, key: [0xFF], expected: "key-mismatch"),
    ]

    private static let headers: [Case] = [
        Case(
            name: "huge headers",
            value: good,
            headers: [RecordHeader(name: Array("x".utf8), value: [UInt8](repeating: 1, count: 9000))],
            expected: "[bad-headers]"
        ),
        Case(
            name: "request id too long",
            value: good,
            headers: [RecordHeader("request-id", String(repeating: "x", count: 129))],
            expected: "[bad-headers]"
        ),
        Case(
            name: "request id is no UTF-8",
            value: good,
            headers: [RecordHeader(name: Array("request-id".utf8), value: [0xFF])],
            expected: "[bad-headers]"
        ),
        Case(
            name: "a client's bad request id before the gateway's",
            value: good,
            headers: [
                RecordHeader("request-id", String(repeating: "x", count: 129)),
                RecordHeader(name: Array("request-id".utf8), value: nil), RecordHeader("request-id", "gateway"),
            ],
            expected: "accepted"
        ),
        Case(
            name: "a null request id after the gateway's",
            value: good,
            headers: [RecordHeader("request-id", "gateway"), RecordHeader(name: Array("request-id".utf8), value: nil)],
            expected: "[bad-headers]"
        ),
        Case(
            name: "null headers that mean nothing",
            value: good,
            headers: [RecordHeader(name: [], value: nil), RecordHeader(name: [0xFF], value: nil)],
            expected: "accepted"
        ),
    ]

    private static func text(_ path: String, body: String) -> [UInt8] {
        Array("{\"path\":\"\(path)\",\"body\":\(body)}".utf8)
    }

    private static var nestedCBOR: [UInt8] {
        RequestRecords.value(
            verb: .verifyAttestation,
            object: [UInt8](repeating: 0x81, count: 40_000),
            keyID: LoopTests.device().keyID,
            clientDataHash: [UInt8](repeating: 1, count: 32)
        )
    }

    private static func record(_ item: Case, offset: Int64) -> InboundRecord {
        InboundRecord(
            topic: "appattest.requests",
            partition: 0,
            offset: offset,
            timestamp: item.timestamp,
            key: item.key.map { Array($0) },
            value: item.value,
            headers: item.headers
        )
    }

    @Test(arguments: cases)
    func `each hostile record gets its own reason`(item: Case) throws {
        let run = try LoopRun(
            [Self.record(item, offset: 0)],
            settings: PipelineSettings(registry: try RequestRecords.registry()),
            ca: LoopTests.ca
        )
        #expect(try run.outcomes() == [0: item.expected])
    }

    @Test(arguments: LoopTests.seeds)
    func `hostile records do not affect the good ones between them`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let device = LoopTests.device(100)
        var records = [
            RequestRecords.record(RequestRecords.attestation(of: device), key: device.keyID.recordKey, offset: 0)
        ]
        var expected: [Int64: String] = [0: "accepted"]
        for index in 1...120 as ClosedRange<Int64> {
            if index % 3 == 0 {
                let value = RequestRecords.assertion(of: device, counter: UInt32(index))
                records.append(RequestRecords.record(value, key: device.keyID.recordKey, offset: index))
                expected[index] = "accepted"
            } else if let item = Self.cases.filter({ $0.expected != "accepted" }).randomElement(using: &random) {
                records.append(Self.record(item, offset: index))
                expected[index] = item.expected
            }
        }
        let run = try LoopRun(
            records,
            settings: PipelineSettings(registry: try RequestRecords.registry()),
            ca: LoopTests.ca,
            seed: seed
        )
        #expect(try run.outcomes() == expected)
        #expect(run.outputs.count == records.count)
        #expect(run.tally.requests == records.count)
        #expect(
            run.tally.accepted + run.tally.refusedTotal + run.tally.deferred + run.tally.deadLettersTotal
                == records.count
        )
    }

    @Test func `unreadable headers do not count as absent`() throws {
        var record = RequestRecords.record(Self.good, key: LoopTests.device().keyID.recordKey, offset: 0)
        record.hasReadableHeaders = false
        let settings = PipelineSettings(registry: try RequestRecords.registry())
        #expect(try LoopRun([record], settings: settings, ca: LoopTests.ca).outcomes() == [0: "[bad-headers]"])
    }

    @Test(
        arguments: [-1, 253_402_300_800_000, Int64.max - 1]
    )
    func `a time outside RFC 3339's range is omitted from the result`(timestamp: Int64) throws {
        let record = RequestRecords.record(Self.good, key: nil, offset: 0, timestamp: timestamp)
        let settings = PipelineSettings(registry: try RequestRecords.registry())
        let result = try #require(try LoopRun([record], settings: settings, ca: LoopTests.ca).outputs.first?.value)
        #expect(try JSONDocument(parsing: result).root["evaluatedAt"]?.kind == .null)
    }

    @Test func `a dead letter keeps key, value and headers, and names its origin`() throws {
        let headers = [RecordHeader("traceparent", "00-1"), RecordHeader(name: [0xFF], value: nil)]
        let record = InboundRecord(
            topic: "t",
            partition: 3,
            offset: 9,
            timestamp: 5,
            key: [0xFF],
            value: [0xFE],
            headers: headers
        )
        let settings = PipelineSettings(registry: try RequestRecords.registry())
        let letter = try #require(try LoopRun([record], settings: settings, ca: LoopTests.ca).outputs.first)
        #expect(letter.stream == .deadLetters && letter.partition == 3)
        #expect(letter.key == [0xFF] && letter.value == [0xFE])
        #expect(
            letter.headers == headers + [
                RecordHeader("dlq.reason", "not-json"), RecordHeader("dlq.topic", "t"),
                RecordHeader("dlq.partition", "3"), RecordHeader("dlq.offset", "9"),
            ]
        )
    }

    @Test func `a value too large for the broker is replaced by its digest in the dead letter`() throws {
        var settings = PipelineSettings(registry: try RequestRecords.registry())
        settings.maxRecordBytes = 70_000
        let record = RequestRecords.record([UInt8](repeating: 1, count: 80_000), key: nil, offset: 0)
        let letter = try #require(try LoopRun([record], settings: settings, ca: LoopTests.ca).outputs.first)
        #expect(letter.value == nil)
        let names = letter.headers.map { String(decoding: $0.name, as: UTF8.self) }
        #expect(names.suffix(2) == ["dlq.truncated", "dlq.sha256"])
        #expect(letter.headers.last?.value?.count == 64)
    }
}
