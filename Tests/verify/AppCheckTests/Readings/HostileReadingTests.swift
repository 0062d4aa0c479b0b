internal import AppAttest
internal import Crypto
internal import DeviceLab
internal import JSON
internal import Testing

@testable internal import AppCheck

/// Readings look at what nobody has verified: no bytes may crash them, and none that are only damaged have one.
@Suite("Readings of hostile bytes")
struct HostileReadingTests {
    @Test(arguments: [ObjectReport.Kind.attestation, .assertion], 1...8 as ClosedRange<UInt64>)
    func `cut and flipped objects have no reading`(_ kind: ObjectReport.Kind, seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let whole = ReadingBench.object(kind)
        for round in 0..<60 {
            var object = whole
            if round.isMultiple(of: 3) {
                object.removeLast(Int.random(in: 1...whole.count, using: &random))
            } else {
                for _ in 0...Int.random(in: 0...3, using: &random) {
                    let place = Int.random(in: object.indices, using: &random)
                    object[place] ^= 1 << UInt8.random(in: 0...7, using: &random)
                }
            }
            let bench = try ReadingBench(kind, object)
            var refused = bench.refused
            refused.clientData = .data(ReadingBench.clientData)
            #expect(bench.reading(refused) == nil, "\(seed), \(round): \(refused.report.reason ?? "accepted")")
        }
    }

    private static let hostileData: [[UInt8]] = [
        [], [0x22], [0x0A], [0x0D, 0x0A], [0xFF], [0x5C], Array("{}".utf8), Array(#"{"challenge":7}"#.utf8),
        Array(#"{"challenge":""}"#.utf8), Array(#"{"a":1,"a":2,"challenge":"\ud83d\ude00/"}"#.utf8),
        [UInt8](repeating: UInt8(ascii: "["), count: 30_000), [UInt8](repeating: UInt8(ascii: "/"), count: 65_536),
        Array(("[" + String(repeating: "1,", count: 2_000) + "1]").utf8), [UInt8](repeating: 0x41, count: 65_537),
        Array((#"{"/":""# + String(repeating: "/", count: 32_000) + #""}"#).utf8),
    ]

    @Test(arguments: hostileData)
    func `client data of any form are read, or left`(_ data: [UInt8]) throws {
        for kind in [ObjectReport.Kind.attestation, .assertion] {
            let bench = try ReadingBench(kind, ReadingBench.object(kind))
            for artifact in [[], [1, 2, 3]] as [[UInt8]] {
                var bench = bench
                bench.arguments.clientDataHash = SHA256.hash(artifact + data).bytes
                var refused = bench.refused
                refused.clientData = .exchange(artifact: artifact, challenge: data)
                #expect(bench.reading(refused) == nil)
            }
        }
    }

    @Test func `the inputs of a reading are few, and no text is written out beyond its limit`() throws {
        let bench = try ReadingBench(.assertion, ReadingBench.object(.assertion))
        for data in Self.hostileData + AppMistake.all.map(\.clientData) {
            var refused = bench.refused
            refused.clientData = .exchange(artifact: [1], challenge: data)
            let counts = Reading.all.map { $0.changed(refused).count }
            #expect((counts.max() ?? 0) <= Reading.mostInputs)
            #expect(counts.reduce(0, +) < 130)
        }
    }

    @Test func `JSON is written again with the same values`() throws {
        let text = #" { "b" : [ 1.50, "\u00e9\/" , null ], "a":{} } "#
        let compact = #"{"b":[1.50,"é/",null],"a":{}}"#
        let root = try #require(JSONSpelling.read(Array(text.utf8)))
        func written(_ spelling: JSONSpelling) -> String { String(decoding: spelling.text(root), as: UTF8.self) }
        #expect(written(JSONSpelling()) == compact)
        #expect(written(JSONSpelling(isSorted: true)) == #"{"a":{},"b":[1.50,"é/",null]}"#)
        #expect(written(JSONSpelling(escapesSlashes: true)) == compact.replacing("/", with: #"\/"#))
        #expect(written(JSONSpelling(isSpaced: true)) == #"{"b": [1.50, "é/", null], "a": {}}"#)
    }
}
