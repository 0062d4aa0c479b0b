import JSON
import Pipeline
import Streams
import Testing

private func decode(_ line: String) throws -> InboundRecord { try CaptureCodec.decode(Array(line.utf8)) }

private func encode(_ record: InboundRecord) -> [UInt8] {
    var output: [UInt8] = []
    CaptureCodec.encode(record, into: &output)
    return output
}

private func record(
    timestamp: Int64 = 5,
    key: [UInt8]? = nil,
    value: [UInt8]? = nil,
    headers: [RecordHeader] = []
) -> InboundRecord {
    InboundRecord(topic: "t", partition: 1, offset: 2, timestamp: timestamp, key: key, value: value, headers: headers)
}

@Suite struct CaptureCodecTests {
    @Test(
        arguments: [
            (
                #"{"topic":"t","partition":1,"offset":2,"tstype":"create","ts":5,"broker":1,"headers":["a","b","nul",null,"#
                    + #""empty","","a","c"],"key":null,"payload":"k1\tp \"x\" \\ / \u0001 é"}"#,
                record(
                    value: Array("k1\tp \"x\" \\ / \u{1} é".utf8),
                    headers: [
                        RecordHeader("a", "b"), RecordHeader(name: Array("nul".utf8), value: nil),
                        RecordHeader("empty", ""), RecordHeader("a", "c"),
                    ]
                )
            ),
            (
                #"{"topic":"t","partition":1,"offset":2,"tstype":"logappend","ts":5,"broker":1,"key":"","payload":""}"#,
                record(key: [], value: [])
            ),
            (
                #"{"topic":"t","partition":1,"offset":2,"tstype":"create","ts":5,"broker":1,"key":"k","payload":null}"#,
                record(key: [0x6B])
            ),
        ]
    )
    func `lines as kcat 1.7.1 prints them are read`(_ line: String, _ expected: InboundRecord) throws {
        #expect(try decode(line) == expected)
    }

    @Test func `raw bytes inside strings are read as they are`() throws {
        let line =
            Array(#"{"partition":1,"offset":2,"headers":["b"#.utf8) + [0xFF, 0x22, 0x2C, 0x22, 0xFE, 0x22]
            + Array(#"],"key":"k"#.utf8) + [0xFF] + Array(#"","payload":"q"#.utf8) + [0xC3, 0x5C, 0x22, 0x78, 0xC3]
            + Array("\"}".utf8)
        let record = try CaptureCodec.decode(line)
        #expect(record.key == [0x6B, 0xFF])
        #expect(record.value == [0x71, 0xC3, 0x22, 0x78, 0xC3])
        #expect(record.headers == [RecordHeader(name: [0x62, 0xFF], value: [0xFE])])
    }

    @Test func `optional members have defaults, and unknown members are ignored`() throws {
        let record = try decode(#" {"offset":0,"x":{"y":[1,{}]},"tstype":7,"partition":0} "#)
        #expect(record == InboundRecord(topic: "", partition: 0, offset: 0, timestamp: -1, key: nil, value: nil))
        #expect(try decode(#"{"offset":0,"partition":0,"headers":null,"ts":-1}"#).headers.isEmpty)
    }

    private static let opened = #"{"path": "v1/x:y", "body": {"a":[1, null]}}"#

    @Test(
        arguments: [
            // rpk topic consume.
            #"{"topic":"t","key":"k","value":"v","headers":[{"key":"h","value":"1"}],"timestamp":5,"#
                + #""partition":1,"offset":2}"#,
            // A message that Kafka UI saves, and one as its API gives it.
            #"{"Value":"v","Offset":2,"Key":"k","Partition":1,"Headers":{"h":"1"},"#
                + #""Timestamp":"1970-01-01T00:00:00.005Z","topic":"t"}"#,
            #"{"topic":"t","partition":1,"offset":2,"timestamp":"1970-01-01T00:00:00.005Z","timestampType":"CREATE_TIME","#
                + #""key":"k","headers":{"h":"1"},"content":"v","keyFormat":"UNKNOWN"}"#,
            // kaf, whose headers are in base64 and whose time is the local one.
            #"{"headers":[{"Key":"aA==","Value":"MQ=="}],"key":"k","offset":2,"partition":1,"payload":"v","#
                + #""timestamp":"1970-01-01T02:00:00.005+02:00","topic":"t"}"#,
            // AKHQ: seconds with a fraction, and the topic as an object.
            #"{"topic":{"name":"t","internal":false},"partition":1,"offset":2,"timestamp":0.005000000,"#
                + #""headers":{"h":"1"},"key":"k","value":"v","exceptions":[]}"#,
            // Redpanda Console: an object around each text, with or without its base64.
            #"{"topic":"t","partitionID":1,"offset":2,"timestamp":5,"compression":"uncompressed","isTransactional":true,"#
                + #""headers":[{"key":"h","value":{"payload":1,"encoding":"text","isPayloadNull":false}}],"#
                + #""key":{"payload":"k","encoding":"text"},"value":{"payload":{"a":1},"rawPayload":"dg==","encoding":"json"}}"#,
            // kcat's own member counts where both are there.
            #"{"topic":"t","partition":1,"offset":2,"ts":5,"timestamp":6,"Key":"x","key":"k","value":"x","payload":"v","#
                + #""headers":["h","1"],"Headers":{}}"#,
        ]
    )
    func `records of other tools are read as kcat's`(_ line: String) throws {
        #expect(
            try decode(line) == record(key: Array("k".utf8), value: Array("v".utf8), headers: [RecordHeader("h", "1")])
        )
    }

    private static let printed = "LogAppendTime:5\tPartition:1\tOffset:2\t"

    @Test(
        arguments: [
            (printed + "h:1\tk\tv", record(key: [0x6B], value: [0x76], headers: [RecordHeader("h", "1")])),
            ("CreateTime:5\tPartition:1\tOffset:2\tNO_HEADERS\tnull\tnull", record()),
            ("NO_TIMESTAMP\tPartition:1\tOffset:2\tNO_HEADERS\tk\t", record(timestamp: -1, key: [0x6B], value: [])),
            (
                printed + "a:1,2,b::,n:null\tk\tx\ty",
                record(
                    key: [0x6B],
                    value: Array("x\ty".utf8),
                    headers: [
                        RecordHeader("a", "1,2"), RecordHeader("b", ":"), RecordHeader(name: [0x6E], value: nil),
                    ]
                )
            ),
        ]
    )
    func `lines of kafka-console-consumer are read`(_ line: String, _ expected: InboundRecord) throws {
        var expected = expected
        expected.topic = ""
        #expect(try decode(line) == expected)
    }

    @Test(arguments: [
        "CreateTime:5\tk\tv", "Partition:1\tOffset:2\tv", printed + "k\tv", printed, "CreateTime:", "Partition:",
        "CreateTime:x\tPartition:1\tOffset:2\tNO_HEADERS\tk\tv", printed + "no colon\tk\tv", printed + "\tk\tv",
        "CreateTime:5\tPartition:2147483648\tOffset:2\tNO_HEADERS\tk\tv",
        "CreateTime:99999999999999999999\tPartition:1\tOffset:2\tNO_HEADERS\tk\tv",
    ])
    func `a line with less than kafka-console-consumer prints of a record says what to set`(_ line: String) {
        let fault = #expect(throws: CaptureCodec.Fault.self) { try decode(line) }
        for part in ["kafka-console-consumer", "print.headers"] { #expect(fault?.reason.contains(part) == true) }
    }

    @Test(arguments: [
        (#"{"partitionID":1,"offset":-2}"#, "Redpanda Console"),
        (#"{"partitionID":1,"offset":2,"value":{"rawPayload":"*"}}"#, "Redpanda Console"),
        (#"{"partition":1,"offset":2,"headers":[{"Key":"*","Value":""}]}"#, "kaf"),
        (#"{"partition":1,"offset":2,"headers":[{"Key":"","Value":7}]}"#, "kaf"),
        (#"{"partition":1,"offset":2,"timestamp":1.5e9}"#, "AKHQ"), (#"{"topic":{},"partition":1,"offset":2}"#, "AKHQ"),
    ])
    func `a fault in another tool's record names the tool`(_ line: String, _ tool: String) {
        let fault = #expect(throws: CaptureCodec.Fault.self) { try decode(line) }
        #expect(fault?.reason.hasSuffix(", in a record of \(tool)") == true, "\(fault?.reason ?? "")")
    }

    @Test(arguments: [
        (#""2026-11-20T12:00:00.25-01:30""#, 1_795_181_400_250 as Int64), ("1795176000.250000000", 1_795_176_000_250),
        ("1795176000.2", 1_795_176_000_200), ("99999999999999999.0", Int64.max), (#""+00:00""#, -2),
        (#""1:+0:0:0""#, -2),
    ])
    func `a time with an offset or in seconds is read to the millisecond`(_ time: String, _ expected: Int64) {
        let record = try? decode(#"{"partition":0,"offset":1,"timestamp":\#(time)}"#)
        #expect((record?.timestamp ?? -2) == expected)
    }

    @Test(arguments: ["payload", "value", "Value"])
    func `a payload that a tool has opened is read as it stands in the line`(_ name: String) throws {
        let line = #"{"partition":0,"offset":1,"\#(name)":\#(Self.opened)}"#
        #expect(try decode(line).value == Array(Self.opened.utf8))
    }

    @Test func `a tombstone of kcat is none of another tool's values`() throws {
        #expect(try decode(#"{"partition":0,"offset":1,"payload":null,"value":"v"}"#).value == nil)
        #expect(try decode(#"{"partition":0,"offset":1,"timestamp":null}"#).timestamp == -1)
    }

    /// Kafka UI writes −1 as the millisecond before 1970, and Go the year 1 for a time that is not set.
    @Test(arguments: [
        #""1969-12-31T23:59:59.999Z""#, #""0001-01-01T00:00:00Z""#, #""1969-12-31T00:00:00Z""#, "-1", "-2",
        "-62135596800000",
    ])
    func `another tool's time before 1970 is none`(_ time: String) throws {
        for name in ["timestamp", "Timestamp"] {
            #expect(try decode(#"{"partition":0,"offset":1,"\#(name)":\#(time)}"#).timestamp == -1)
        }
    }

    @Test func `base64 members stand for bytes`() throws {
        let record = try decode(
            #"{"partition":0,"offset":9,"keyBase64":"/w==","payloadBase64":"","headers":[{"base64":"/g"},{"base64":""}]}"#
        )
        #expect(record.key == [0xFF])
        #expect(record.value == [])
        #expect(record.headers == [RecordHeader(name: [0xFE], value: [])])
    }

    @Test(arguments: [(0 as Int32, 0 as Int64), (Int32.max, Int64.max)])
    func `the largest numbers fit`(_ partition: Int32, _ offset: Int64) throws {
        let record = try decode(#"{"partition":\#(partition),"offset":\#(offset),"ts":\#(offset)}"#)
        #expect(record.partition == partition && record.offset == offset && record.timestamp == offset)
    }

    private static let lines = [
        ("", "invalid JSON at byte 0: empty line"), ("{", "invalid JSON at byte 1: syntax error"),
        ("[]", "not a JSON object"),
        (#"{"partition":0,"offset":1}x"#, "invalid JSON at byte 26: text after the object"),
        (#"{"offset":1}"#, "partition is not an integer from 0 to 2147483647"),
        (#"{"partition":"0","offset":1}"#, "partition is not an integer from 0 to 2147483647"),
        (#"{"partition":2147483648,"offset":1}"#, "partition is not an integer from 0 to 2147483647"),
        (#"{"partition":-1,"offset":1}"#, "partition is not an integer from 0 to 2147483647"),
        (#"{"partition":0}"#, "offset is not an integer >= 0"),
        (#"{"partition":0,"offset":1.0}"#, "offset is not an integer >= 0"),
        (#"{"partition":0,"offset":-1}"#, "offset is not an integer >= 0"),
        (#"{"partition":0,"offset":9223372036854775808}"#, "offset is not an integer >= 0"),
    ]

    /// Members that stand beside a partition and an offset.
    private static let members = [
        (#""ts":"5""#, "ts is not an integer >= -1"), (#""ts":-2"#, "ts is not an integer >= -1"),
        (#""ts":1795850187"#, "ts 1795850187 is in seconds: a capture has milliseconds"),
        (#""timestamp":1795850187"#, "timestamp 1795850187 is in seconds: a capture has milliseconds"),
        (#""timestamp":"5""#, "timestamp is neither an integer nor a time such as 2026-11-20T12:00:00Z"),
        (#""topic":1"#, "topic is not a UTF-8 string"), (#""key":1"#, "key is neither a string nor null"),
        (#""payload":1"#, "payload is neither a string nor null"),
        (#""value":true"#, "payload is neither a string nor null"),
        (#""payload":{},"payloadBase64":"""#, "both payload and payloadBase64"),
        (#""payload":"","payloadBase64":"""#, "both payload and payloadBase64"),
        (#""payload":null,"payloadBase64":"""#, "both payload and payloadBase64"),
        (#""key":"","keyBase64":"""#, "both key and keyBase64"),
        (#""payloadBase64":"*""#, "payloadBase64 is not base64"), (#""keyBase64":null"#, "keyBase64 is not base64"),
        (#""headers":[{"key":"a","value":"b"},"c"]"#, "a header has no key"),
        (#""headers":[{"key":null,"value":"b"}]"#, "a header's name is null"),
        (#""headers":{"a":1}"#, "a header is not a string"), (#""headers":["a",1]"#, "a header is not a string"),
        (#""headers":1"#, "headers is neither an array nor an object"),
        (#""headers":["a"]"#, "headers has a name without a value"),
        (#""headers":[null,"b"]"#, "a header's name is null"),
        (#""headers":["a",{"base64":"*"}]"#, "a header's object is not {\"base64\": …}"),
        (#""headers":["a",{"base64":"","b":1}]"#, "a header's object is not {\"base64\": …}"),
        (#""offset":2"#, "two members with the same name"), (#""off\u0073et":2"#, "two members with the same name"),
    ]

    @Test(arguments: lines + members.map { (#"{"partition":0,"offset":1,\#($0)}"#, $1) })
    func `a line with one fault is refused with its reason`(_ line: String, _ reason: String) {
        let fault = #expect(throws: CaptureCodec.Fault.self) { try decode(line) }
        #expect(fault?.reason == reason)
    }

    @Test(arguments: [
        record(), record(timestamp: -1), record(key: [], value: []), record(key: [0xFF], value: [0xC3, 0x28]),
        record(key: Array("k\"\\\n".utf8), value: Array("é😀\u{0}".utf8)),
        record(value: [UInt8](0...255), headers: [RecordHeader(name: [0x80], value: [0x81]), RecordHeader("", "")]),
        record(headers: [RecordHeader(name: Array("n".utf8), value: nil)]),
    ])
    func `records and their lines survive a round trip`(_ record: InboundRecord) throws {
        let line = encode(record)
        #expect(line.last == UInt8(ascii: "\n"))
        #expect(UTF8Text.isValid(line))
        #expect(!line.dropLast().contains(UInt8(ascii: "\n")))
        let decoded = try CaptureCodec.decode(line.dropLast())
        #expect(decoded == record)
        #expect(encode(decoded) == line)
    }

    @Test func `members are written in kcat's order`() {
        let full = record(key: [0x6B], value: [0x76], headers: [RecordHeader("h", "1")])
        #expect(
            String(decoding: encode(full), as: UTF8.self)
                == #"{"topic":"t","partition":1,"offset":2,"tstype":"logappend","ts":5,"headers":["h","1"],"key":"k","#
                + "\"payload\":\"v\"}\n"
        )
        #expect(
            String(decoding: encode(record(timestamp: -1)), as: UTF8.self)
                == "{\"topic\":\"t\",\"partition\":1,\"offset\":2,\"key\":null,\"payload\":null}\n"
        )
    }

    @Test func `lines are appended to the existing ones`() {
        var output = Array("x\n".utf8)
        CaptureCodec.encode(record(), into: &output)
        CaptureCodec.encode(record(), into: &output)
        #expect(output == Array("x\n".utf8) + encode(record()) + encode(record()))
    }

    @Test func `a record of ten thousand headers is read`() throws {
        let headers = (0..<10_000).map { RecordHeader("h", "\($0)") }
        #expect(try CaptureCodec.decode(encode(record(headers: headers)).dropLast()).headers == headers)
    }

    @Test func `a line cut anywhere is refused, never trapped on`() throws {
        let line = Array(
            encode(record(key: [0xFF], value: Array("\u{1}😀".utf8), headers: [RecordHeader("a", "b")])).dropLast()
        )
        for end in line.indices {
            #expect(throws: CaptureCodec.Fault.self) { try CaptureCodec.decode(Array(line[..<end])) }
        }
    }
}

extension CaptureCodec {
    fileprivate static func decode(_ line: ArraySlice<UInt8>) throws(Fault) -> InboundRecord {
        try decode(Array(line))
    }
}
