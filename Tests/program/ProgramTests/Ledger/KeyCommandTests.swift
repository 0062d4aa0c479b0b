import AppAttest
import AppCheck
import Pipeline
import Settings
import TestKit
import Testing

@testable import Broker
@testable import Commands

@Suite("key: what the ledger has of one key")
struct KeyCommandTests {
    private static let first = KeySamples.key(1).keyID
    private static let second = KeySamples.key(2).keyID
    private static let tag = String(decoding: DeviceTag.text(of: first.recordKey), as: UTF8.self)

    private func record(counter: UInt32) -> KeyRecord {
        .sample(counter: counter, app: KeyDirectory.app, registeredAt: 1_000)
    }

    private func findings(_ text: String, _ changes: [LedgerChange]) throws -> [KeyLookup.Finding] {
        var lookup = KeyLookup(try #require(KeyLookup.Subject(text)))
        for change in changes { lookup.take(change, of: 3) }
        return lookup.findings
    }

    @Test(arguments: [first.base64, tag, first.base64.replacing("+", with: "-").replacing("/", with: "_")])
    func `a key is found by its ID and by the hash of events, with its last record, and no other key is`(
        text: String
    ) throws {
        let found = try findings(
            text,
            [
                .key(Self.first, record(counter: 1)), .key(Self.second, record(counter: 9)),
                .key(Self.first, record(counter: 2)),
            ]
        )
        #expect(found.map(\.key) == [Self.first] && found.first?.record?.counter == 2 && found.first?.partition == 3)
    }

    @Test func `a forgotten key is gone, and its ban stays until it is lifted`() throws {
        let id = BanID.key(Self.first)
        let ban = Ban(.key, since: EvaluationTime(milliseconds: 5))
        let forgotten: [LedgerChange] = [
            .key(Self.first, record(counter: 1)), .ban(id, ban), .keyForgotten(Self.first),
        ]
        let found = try findings(Self.first.base64, forgotten)
        #expect(found.count == 1 && found.first?.record == nil && found.first?.ban == ban)
        #expect(try findings(Self.first.base64, forgotten + [.banLifted(id)]) == [])
        #expect(try findings(Self.second.base64, forgotten) == [])
    }

    @Test(arguments: ["", "abc", "0123456789ABCDEF", "0123456789abcde", "AAAA"])
    func `a text that names no key is refused`(text: String) {
        #expect(KeyLookup.Subject(text) == nil)
    }

    @Test func `the terminal shows record and ban in the words of people`() throws {
        var record = record(counter: 7)
        record.skipped = 1
        record.risk = RiskMetric(8, createdAt: 100)
        record.lastRequest = LastRequest(
            id: ExactText("r-1"),
            valueDigest: BanID.key(Self.second),
            issuedAt: 10,
            expiresAt: 20
        )
        let finding = KeyLookup.Finding(
            key: Self.first,
            partition: 3,
            record: record,
            ban: Ban(.key, since: EvaluationTime(milliseconds: 0), until: EvaluationTime(milliseconds: 1_000)),
            mark: PartitionMark(streamTime: EvaluationTime(milliseconds: 2_000))
        )
        var view = KeyView(registry: try KeyDirectory().load().configuration.registry)
        let text = view.text(finding)
        #expect(!text.contains("last use"))
        view.keys.expireAfterMilliseconds = 60_000
        let use = "last use               1970-01-01T00:00:10.000Z, ends 1970-01-01T00:01:10"
        #expect(view.text(finding).contains(use))
        for line in [
            "partition              3", "app                    projects/1/apps/a",
            "counter                7, skipped: 6",
            "risk metric            8, of 1970-01-01T00:01:40",
            "last accepted request  r-1, token from 1970-01-01T00:00:10",
            "ban                    since 1970-01-01T00:00:00", ", which has passed",
        ] { #expect(text.contains(line), "\(text)") }
    }
}
