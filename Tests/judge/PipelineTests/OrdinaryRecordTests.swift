import AppAttest
import AppCheck
import Crypto
import DeviceLab
import JSON
import Streams
import TestKit
import Testing

@testable import Pipeline

/// The one-pass readers beside the strict ones: whatever they understand, the strict readers understand in the same way.
@Suite("Ordinary records, read in one pass")
struct OrdinaryRecordTests {
    private static let device = FakeDevice(
        ca: LabCA(seed: 1),
        appID: "ABCDE12345.com.example.app",
        shape: .ios27_0_1,
        seed: 5
    )
    private static let hash = SHA256.hash([1]).bytes
    private static let value = RequestRecords.assertion(of: device, counter: 1)
    private static let exchange = Array(
        (#"{"path":"v1beta/projects/contract-test-1/apps/1:123456789012:ios:0123456789abcdef"#
            + #":exchangeAppAttestAssertion","body":{"artifact":""# + text([1] + device.keyID.bytes + hash + hash)
            + #"","assertion":""# + text(hash) + #"","challenge":"AAAA","limitedUse":true}}"#).utf8
    )
    private static let attestation = RequestRecords.attestation(of: device)
    private static let attestationExchange = Array(
        (#"{"body":{"attestationStatement":"oA==","keyId":""# + text(device.keyID.bytes)
            + #"","challenge":"AAAA","limitedUse":false},"path":"v1/projects/contract-test-1/apps/"#
            + #"1:123456789012:ios:0123456789abcdef:exchangeAppAttestAttestation"}"#).utf8
    )
    private static let record = InboundRecord(
        topic: "appattest.requests",
        partition: 3,
        offset: 1234,
        timestamp: RequestRecords.time,
        key: device.keyID.recordKey,
        value: value,
        headers: [RecordHeader("request-id", "r-1"), RecordHeader("tracestate", "a=b")]
    )

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: Base64.encode(bytes), as: UTF8.self) }

    /// One to three small edits, mostly with signs that JSON and base64 give a meaning.
    private static func altered(_ text: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var text = text
        let signs = Array(#"{}[]":,\/ntu0019-_+=Aaé"#.utf8) + [0x20, 0x0A, 0x00, 0xFF]
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let place = Int.random(in: 0..<text.count, using: &random)
            let sign = signs[Int.random(in: 0..<signs.count, using: &random)]
            switch Int.random(in: 0..<4, using: &random) {
            case 0: text[place] = sign
            case 1: text.insert(sign, at: place)
            case 2: text.remove(at: place)
            default:
                let end = min(text.count, place + Int.random(in: 1...40, using: &random))
                text.insert(contentsOf: text[place..<end], at: Int.random(in: 0...text.count, using: &random))
            }
        }
        return text
    }

    private struct Line: Equatable {
        var place: RecordPlace
        var timestamp: Int64
        var key: [UInt8]
        var value: [UInt8]
        var headers: [RecordHeader]
    }

    private static func plain(_ line: [UInt8]) -> Line? {
        var payload = ByteScratch()
        let bytes = line.span
        guard let read = PlainCaptureLine(bytes, in: 0..<line.count, topic: record.topic, payload: &payload) else {
            return nil
        }
        return Line(
            place: RecordPlace(partition: read.partition, offset: read.offset),
            timestamp: read.timestamp,
            key: Array(line[read.key]),
            value: payload.withBytes { Bytes.copy($0) },
            headers: (0..<read.headerCount).map { index in
                let (name, value) = read.header(index)
                return RecordHeader(name: Array(line[name]), value: Array(line[value]))
            }
        )
    }

    private static func strict(_ line: [UInt8]) -> Line? {
        guard let read = try? CaptureCodec.decode(line), read.topic == record.topic, let key = read.key,
            let value = read.value
        else { return nil }
        return Line(
            place: RecordPlace(read),
            timestamp: read.timestamp,
            key: key,
            value: value,
            headers: read.headers
        )
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `a capture's line that is read in one pass is the same record to the strict reader`(seed: UInt64) {
        var line: [UInt8] = []
        CaptureCodec.encode(Self.record, into: &line)
        #expect(Self.plain(line) == Self.strict(line) && Self.plain(line)?.value == Self.value)
        var (random, understood) = (SeededRandom(seed: seed), 0)
        for _ in 0..<4000 {
            let altered = Self.altered(line, &random)
            guard let plain = Self.plain(altered) else { continue }
            understood += 1
            #expect(plain == Self.strict(altered), "\(String(decoding: altered, as: UTF8.self))")
        }
        #expect(understood > 400)
    }

    @Test(arguments: [value, exchange, attestation, attestationExchange], 0..<4 as Range<UInt64>)
    func `a request that is read in one pass is the same request to the strict reader`(
        value: [UInt8],
        seed: UInt64
    )
        throws
    {
        let decoder = RequestDecoder(registry: try RequestRecords.registry(), limits: RequestLimits())
        let key = Self.device.keyID.recordKey
        var paths = RequestPaths()
        #expect(decoder.plainRequest(value.span, recordKey: key.span, paths: &paths) != nil)
        var (random, understood) = (SeededRandom(seed: seed), 0)
        for _ in 0..<4000 {
            let altered = Self.altered(value, &random)
            guard let plain = decoder.plainRequest(altered.span, recordKey: key.span, paths: &paths) else { continue }
            understood += 1
            guard case .request(let strict) = decoder.decode(altered) else {
                Issue.record("refused: \(String(decoding: altered, as: UTF8.self))")
                continue
            }
            #expect(plain.path == strict.path && plain.resource == strict.resource && plain.isBeta == strict.isBeta)
            #expect(plain.verb == strict.verb && plain.keyID == strict.keyID && plain.body == strict.body)
            #expect(strict.requiredRecordKey == key)
        }
        #expect(understood > 10)
    }

    /// Reads a record's line so many times, as of one grain, then what `others` are. The topic is taken over from the line before.
    private static func decode(
        _ record: InboundRecord,
        lines: Int,
        and others: [PolledRecord] = [],
        adjust: (inout PipelineSettings) -> Void
    ) throws -> (line: [UInt8], grain: DecodedGrain) {
        var settings = PipelineSettings(registry: try RequestRecords.registry())
        adjust(&settings)
        var line: [UInt8] = []
        CaptureCodec.encode(record, into: &line)
        let polled = (1...lines).map { PolledRecord.captureLine(chunk: line, range: line.indices, lineNumber: $0) }
        return (line, DecodeStage(settings: settings).decode((polled + others)[...], now: nil))
    }

    @Test(arguments: [value, attestation])
    func `a capture's line is decoded as its record is`(value: [UInt8]) throws {
        var record = Self.record
        record.value = value
        let (line, grain) = try Self.decode(record, lines: 2, and: [.record(record)]) { $0.keepsValues = true }
        #expect(Self.plain(line) != nil)
        let read = grain.records
        #expect(
            read.count == 3 && read.allSatisfy { $0.record.value == value && $0.request?.body == read[2].request?.body }
        )
        #expect(read.allSatisfy { $0.valueDigest == SHA256.hash(value) && $0.requestID == read[2].requestID })
        #expect(read.allSatisfy { $0.claimedKey == read[2].claimedKey })
        #expect((read[2].claimedKey != nil) == (value == Self.attestation))
    }

    @Test(arguments: [1_399_999_999, 1_400_000_000, 4_000_000_000, 4_000_000_001 as Int64], [false, true])
    func `a time in seconds is a fault on every line of a capture`(time: Int64, skips: Bool) throws {
        var record = Self.record
        record.timestamp = time
        let (line, grain) = try Self.decode(record, lines: 3) { $0.skipsBadLines = skips }
        let isFault = CaptureLine.timesInSeconds.contains(time)
        #expect((Self.plain(line) == nil) == isFault)
        #expect(grain.skippedLines == (isFault && skips ? 3 : 0) && grain.records.count == (isFault ? 0 : 3))
        #expect((grain.fault == nil) == (skips || !isFault))
    }

    @Test func `a request of another key is left to the strict reader`() throws {
        let decoder = RequestDecoder(registry: try RequestRecords.registry(), limits: RequestLimits())
        var paths = RequestPaths()
        let other = KeyID(SHA256.hash([9])).recordKey
        for value in [Self.value, Self.exchange, Self.attestation, Self.attestationExchange] {
            #expect(decoder.plainRequest(value.span, recordKey: other.span, paths: &paths) == nil)
        }
    }
}
