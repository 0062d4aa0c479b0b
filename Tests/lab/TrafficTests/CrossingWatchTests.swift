import AppAttest
import JSON
import Testing

@testable import Traffic

@Suite("Answers of another call are found")
struct CrossingWatchTests {
    private static let keyID = [UInt8](repeating: 7, count: 32)

    private static func call(
        _ asker: StockMember.Call.Asker = .sdk,
        subject: String? = "app",
        mayShareToken: Bool = false
    ) -> StockMember.Call {
        StockMember.Call(
            key: nil,
            value: [],
            headers: [],
            web: WebCall(path: "/", body: []),
            verb: "v",
            asker: asker,
            keyID: keyID,
            subject: subject,
            mayShareToken: mayShareToken
        )
    }

    private static func token(_ name: String, subject: String = "app") -> String {
        let payload = Base64.encodeURL(Array(#"{"sub":"\#(subject)","jti":"\#(name)"}"#.utf8))
        return "h." + String(decoding: payload, as: UTF8.self) + ".s"
    }

    private static func artifact(_ key: [UInt8]) -> String {
        String(decoding: Base64.encode([1] + key + [UInt8](repeating: 0, count: 60)), as: UTF8.self)
    }

    /// Two answers, and whether they are one too many.
    @Test(
        arguments: [
            (#"{"challenge":"AAAA"}"#, #"{"challenge":"AAAB"}"#, 0),
            (#"{"challenge":"AAAA"}"#, #"{"challenge":"AAAA"}"#, 1),
            (#"{"token":"\#(token("a"))"}"#, #"{"token":"\#(token("b"))"}"#, 0),
            (#"{"token":"\#(token("a"))"}"#, #"{"token":"\#(token("a"))"}"#, 1),
            (#"{"token":"\#(token("a"))"}"#, #"{"appCheckToken":{"token":"\#(token("a"))"}}"#, 1),
            (#"{"token":"\#(token("a", subject: "other"))"}"#, "{}", 1),
            (#"{"artifact":"\#(artifact(keyID))"}"#, "{}", 0),
            (#"{"artifact":"\#(artifact([UInt8](repeating: 8, count: 32)))"}"#, "{}", 1),
        ]
    )
    func `a secret that was seen, a foreign key and a foreign app are crossings`(
        first: String,
        second: String,
        crossings: Int
    ) {
        var watch = CrossingWatch()
        watch.note(Self.call(), body: Array(first.utf8), requestID: Array("1".utf8))
        watch.note(Self.call(), body: Array(second.utf8), requestID: Array("2".utf8))
        #expect(watch.crossings == crossings && (watch.first == nil) == (crossings == 0))
    }

    @Test func `a request's id is seen once, and a shared session token may be seen again`() {
        var watch = CrossingWatch()
        let body = Array(#"{"token":"\#(Self.token("a"))"}"#.utf8)
        watch.note(Self.call(mayShareToken: true), body: body, requestID: [1])
        watch.note(Self.call(mayShareToken: true), body: body, requestID: nil)
        #expect(watch.crossings == 0)
        watch.note(Self.call(.backend(uses: 0)), body: Array("{}".utf8), requestID: [1])
        #expect(watch.crossings == 1)
    }
}

@Suite("Latencies in buckets")
struct LatencyTallyTests {
    @Test(arguments: [1, 63, 64, 65, 127, 128, 1_000, 65_535, 1_000_003, 60_000_000])
    func `a single duration is its own median, but for one part in 64`(value: Int64) {
        var tally = LatencyTally()
        tally.add(microseconds: value)
        tally.add(microseconds: 4 * value)
        let median = tally.quantile(0.5)
        #expect(median >= value && median <= value + value / 64)
        #expect(tally.longest == 4 * value && tally.quantile(1) == 4 * value)
    }

    @Test func `quantiles of a thousand durations are where they must be`() {
        var tally = LatencyTally()
        for value in (1...1000).reversed() { tally.add(microseconds: Int64(value) * 1000) }
        #expect(tally.count == 1000 && (500_000...507_900).contains(tally.quantile(0.5)))
        #expect((990_000...1_000_000).contains(tally.quantile(0.99)))
        #expect(LatencyTally().quantile(0.5) == 0)
    }
}
