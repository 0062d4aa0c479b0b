import AppAttest
import Pipeline
import Streams
import Testing

@Suite struct HeaderReadingTests {
    private static func read(_ headers: [RecordHeader]) -> HeaderReading? {
        HeaderReading(headers, headerBytes: 8192, requestIDBytes: 128)
    }

    private static func header(_ name: String, _ value: [UInt8]?) -> RecordHeader {
        RecordHeader(name: Array(name.utf8), value: value)
    }

    @Test func `each header is read under its exact name; the last one counts`() throws {
        let reading = try #require(
            Self.read([
                RecordHeader("request-id", "r1"), RecordHeader("installation-id", "i1"),
                RecordHeader("handshake", "attestation"), RecordHeader("traceparent", "t"),
                RecordHeader("installation-id", "i2"), RecordHeader("request-id", "r2"),
                RecordHeader("Installation-Id", "i3"), RecordHeader("Handshake", "assertion"),
            ])
        )
        #expect(reading.requestID == "r2" && reading.installationID == "i2" && reading.isAttestationHandshake)
        #expect(reading.traceHeaders == [RecordHeader("traceparent", "t")])
        let none = try #require(Self.read([]))
        #expect(none.requestID == nil && none.installationID == nil && !none.isAttestationHandshake)
    }

    @Test(
        arguments: [
            ([0x61], true), ([UInt8](repeating: 0x61, count: 256), true), ([UInt8](repeating: 0x61, count: 257), false),
            ([], false), ([0xFF], false), ([0xC3, 0xA9], true), ([0xC3], false), (nil, false),
        ] as [([UInt8]?, Bool)]
    )
    func `an installation id is 1 to 256 bytes of UTF-8, and ignored otherwise`(
        _ value: [UInt8]?,
        _ isTaken: Bool
    ) throws {
        let reading = try #require(Self.read([Self.header("installation-id", value)]))
        #expect(reading.installationID == (isTaken ? ExactText(validating: value ?? []) : nil))
        // A gateway's bad id hides an earlier one from the client.
        let last = try #require(
            Self.read([RecordHeader("installation-id", "x"), Self.header("installation-id", value)])
        )
        #expect(last.installationID == reading.installationID)
    }

    @Test(
        arguments: [
            (["attestation"], true), (["assertion"], false), (["Attestation"], false), (["attestation "], false),
            ([""], false), ([nil], false), (["assertion", "attestation"], true), (["attestation", "assertion"], false),
            (["attestation", nil], false), ([], false),
        ] as [([String?], Bool)]
    )
    func `a handshake is for an attestation only if the last header says so`(
        _ values: [String?],
        _ isAttestation: Bool
    ) throws {
        let headers = values.map { Self.header("handshake", $0.map { Array($0.utf8) }) }
        #expect(try #require(Self.read(headers)).isAttestationHandshake == isAttestation)
    }

    @Test(
        arguments: [
            ("0", 0), ("7", 7), ("2147483647", .max), ("2147483648", -1), ("9999999999", -1), ("10000000000", -1),
            ("-1", -1), ("+1", -1), ("01", -1), ("00", -1), ("", -1), (" 1", -1), ("1x", -1), ("\u{661}", -1),
            (nil, -1),
        ] as [(String?, Int32)]
    )
    func `reply-to is a partition's number in decimal digits, anything else is unusable`(
        value: String?,
        expected: Int32
    ) throws {
        let header = Self.header("reply-to", value.map { Array($0.utf8) })
        #expect(try #require(Self.read([Self.header("reply-to", [0x35]), header])).replyTo == expected)
        #expect(try #require(Self.read([Self.header("reply-t0", [0x35])])).replyTo == nil)
    }

    @Test func `all headers together have a limit`() {
        let id = RecordHeader("installation-id", "x")
        #expect(HeaderReading([id], headerBytes: 16, requestIDBytes: 1) != nil)
        #expect(HeaderReading([id], headerBytes: 15, requestIDBytes: 1) == nil)
    }

    @Test(arguments: [(256, true), (257, false)])
    func `a record has at most 256 headers, empty ones included`(count: Int, isFine: Bool) {
        let headers = [RecordHeader](repeating: RecordHeader(name: [], value: nil), count: count)
        #expect((Self.read(headers) != nil) == isFine)
    }
}
