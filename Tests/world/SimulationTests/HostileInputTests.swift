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
        var hasReadableHeaders = true
        let expected: String
        var testDescription: String { name }
    }

    private static let good = RequestRecords.attestation(of: LoopTests.device())
    private static let path = RequestRecords.path

    static let cases: [Case] = shapes + keys + headers

    private static let shapes: [Case] = [
        shape("null value", nil, "[null-value]"), shape("empty value", [], "[not-json]"),
        shape("oversized", [UInt8](repeating: 0x20, count: 65_537), "[too-large]"),
        shape("not JSON", Array("hello".utf8), "[not-json]"), shape("no UTF-8", [0xFF, 0xFE, 0, 0x80], "[not-json]"),
        shape("no UTF-8 inside", Array("{\"path\":\"".utf8) + [0xC0, 0xAF] + Array("\"}".utf8), "[not-json]"),
        shape("an array", Array("[1,2]".utf8), "[no-path]"), shape("no path", Array("{\"body\":{}}".utf8), "[no-path]"),
        shape("path is a number", Array("{\"path\":7,\"body\":{}}".utf8), "[no-path]"),
        shape("nested a million deep", [UInt8](repeating: 0x5B, count: 60_000), "[no-path]"),
        shape("no verb", text("v1/projects/p/apps/a", body: "{}"), "malformed-request"),
        shape("the app id's colon is the last", text(path, body: "{}"), "unknown-method"),
        shape("foreign verb", text("\(path):exchangeDebugToken", body: "{}"), "unknown-method"),
        shape("a challenge without a key", text("\(path):generateAppAttestChallenge", body: "{}"), "no-active-key"),
        shape("foreign app", text(foreignPath, body: "{}"), "unknown-app"),
        shape("no body", Array("{\"path\":\"\(path):verifyAttestation\"}".utf8), "malformed-request"),
        shape("body is a list", text("\(path):verifyAssertion", body: "[]"), "malformed-request"),
        shape("base64 rubbish", text("\(path):verifyAssertion", body: rubbish), "malformed-request"),
        shape("nested CBOR", nestedCBOR, "malformed-attestation"),
        Case(name: "no timestamp", value: good, timestamp: -1, expected: "malformed-request"),
        Case(name: "a time after 9999", value: good, timestamp: Int64.max - 1000, expected: "malformed-request"),
    ]

    private static func shape(_ name: String, _ value: [UInt8]?, _ expected: String) -> Case {
        Case(name: name, value: value, expected: expected)
    }

    private static let foreignPath = "v1/projects/123456789012/apps/1:1:ios:1:verifyAttestation"
    private static let rubbish = "{\"keyId\":\"%%%\",\"assertion\":\"??\",\"clientDataHash\":\"AA==\"}"

    private static let keys: [Case] = [
        keyed("no key", nil), keyed("empty key", []), keyed("foreign key", LoopTests.device(2).keyID.recordKey),
        keyed("unpadded key", LoopTests.device().keyID.recordKey.dropLast()), keyed("key is no UTF-8", [0xFF]),
    ]

    private static func keyed(_ name: String, _ key: [UInt8]?) -> Case {
        Case(name: name, value: good, key: key, expected: "key-mismatch")
    }

    private static let headers: [Case] = [
        headed("huge headers", [header("x", [UInt8](repeating: 1, count: 9000))]),
        headed("request id too long", [header("request-id", tooLong)]),
        headed("request id is no UTF-8", [header("request-id", [0xFF])]),
        headed(
            "a client's bad request id before the gateway's",
            [header("request-id", tooLong), header("request-id", nil), RecordHeader("request-id", "gateway")],
            "accepted"
        ),
        headed(
            "a null request id after the gateway's",
            [RecordHeader("request-id", "gateway"), header("request-id", nil)]
        ),
        headed("null headers, meaningless", [header("", nil), RecordHeader(name: [0xFF], value: nil)], "accepted"),
        Case(name: "unreadable headers", value: good, hasReadableHeaders: false, expected: "[bad-headers]"),
    ]

    private static let tooLong = [UInt8](repeating: UInt8(ascii: "x"), count: 129)

    private static func header(_ name: String, _ value: [UInt8]?) -> RecordHeader {
        RecordHeader(name: Array(name.utf8), value: value)
    }

    private static func headed(
        _ name: String,
        _ headers: [RecordHeader],
        _ expected: String = "[bad-headers]"
    ) -> Case {
        Case(name: name, value: good, headers: headers, expected: expected)
    }

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
        var record = RequestRecords.record(item.value, key: item.key, offset: offset)
        (record.timestamp, record.headers) = (item.timestamp, item.headers)
        record.hasReadableHeaders = item.hasReadableHeaders
        return record
    }

    @Test(arguments: cases)
    func `each hostile record gets its own reason`(item: Case) throws {
        #expect(try LoopRun([Self.record(item, offset: 0)]).outcomes() == [0: item.expected])
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
        let run = try LoopRun(records, seed: seed)
        #expect(try run.outcomes() == expected)
        #expect(run.outputs.count == records.count)
        #expect(run.tally.requests == records.count)
        #expect(
            run.tally.accepted + run.tally.refusedTotal + run.tally.deferred + run.tally.deadLettersTotal
                == records.count
        )
    }

    @Test(
        arguments: [-1, 253_402_300_800_000, Int64.max - 1]
    )
    func `a time outside RFC 3339's range is omitted from the result`(timestamp: Int64) throws {
        let record = RequestRecords.record(Self.good, key: nil, offset: 0, timestamp: timestamp)
        let result = try #require(try LoopRun([record]).outputs.first?.value)
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
        let letter = try #require(try LoopRun([record]).outputs.first)
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
        let record = RequestRecords.record([UInt8](repeating: 1, count: 80_000), key: nil, offset: 0)
        let run = try LoopRun([record]) { $0.maxRecordBytes = 70_000 }
        let letter = try #require(run.outputs.first)
        #expect(letter.value == nil)
        let names = letter.headers.map { String(decoding: $0.name, as: UTF8.self) }
        #expect(names.suffix(2) == ["dlq.truncated", "dlq.sha256"])
        #expect(letter.headers.last?.value?.count == 64)
    }
}
