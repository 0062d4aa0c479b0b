import AppAttest
import AppCheck
import DeviceLab
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// A request that the broker accepted must never become an output that it refuses: the partition would stop.
@Suite("The size of outputs")
struct OutputSizeTests {
    private static let maxBytes = 20_000
    /// The wire's overhead of a header: two lengths of at most five bytes each.
    private static let headerOverhead = 10

    struct Case: CustomTestStringConvertible, Sendable {
        let name: String
        var key: [UInt8]?
        var value: [UInt8]?
        var headers: [RecordHeader] = []
        let expected: String
        var testDescription: String { name }
    }

    private static let huge = [UInt8](repeating: 0x41, count: 19_990)
    private static let small = Array("{\"path\":\"v1/projects/p:x\"}".utf8)

    static let cases: [Case] = [
        Case(name: "a huge value", value: huge, expected: "[not-json]"),
        Case(
            name: "a huge header",
            value: small,
            headers: [RecordHeader(name: huge, value: nil)],
            expected: "[bad-headers]"
        ),
        Case(
            name: "a flood of headers",
            value: small,
            headers: (0..<9_000).map { _ in RecordHeader(name: [0x78], value: nil) },
            expected: "[bad-headers]"
        ),
        Case(
            name: "a flood of empty headers",
            value: [],
            headers: (0..<9_000).map { _ in RecordHeader(name: [], value: []) },
            expected: "[bad-headers]"
        ),
        Case(name: "a huge key of a dead letter", key: huge, value: Array("x".utf8), expected: "[not-json]"),
        Case(name: "a huge key of a result", key: huge, value: small, expected: "unknown-method"),
        Case(
            name: "a huge path",
            value: Array("{\"path\":\"v1/projects/p/apps/\(String(repeating: "a", count: 12_000)):x\"}".utf8),
            expected: "malformed-request"
        ),
    ]

    @Test(arguments: cases)
    func `every record becomes an output that the broker accepts`(item: Case) throws {
        var record = RequestRecords.record(item.value, key: item.key, offset: 0)
        record.headers = item.headers
        let run = try LoopRun([record]) { $0.maxRecordBytes = Self.maxBytes }
        #expect(try run.outcomes() == [0: item.expected])
        let output = try #require(run.outputs.first)
        let headerBytes = output.headers.reduce(0) { $0 + $1.name.count + ($1.value?.count ?? 0) + Self.headerOverhead }
        #expect((output.key?.count ?? 0) + (output.value?.count ?? 0) + headerBytes <= Self.maxBytes)
    }

    @Test func `an exchange with a record key of maximum size produces outputs that the broker accepts`() throws {
        var settings = try ExchangeKit.settings()
        settings.maxRecordBytes = Self.maxBytes
        let rig = try ExchangeRig(settings)
        let path = "v1/\(ExchangeKit.resource):exchangeAppAttestAttestation"
        var requests = [
            ExchangeRequest.challenge(), ExchangeRequest(ExchangeRequest.value(path, body: Array("{}".utf8))),
        ]
        for index in requests.indices { requests[index].key = Array(Self.huge.dropLast(90)) }
        let answers = try rig.send(requests)
        #expect(answers.map { $0.reason ?? $0.verdict } == ["accepted", "malformed-request"])
        #expect(Set(rig.streams.outputs.map(\.stream)) == [.results, .tokens, .events])
        for output in rig.streams.outputs { #expect(output.byteCount <= Self.maxBytes, "\(output.stream)") }
    }
}
