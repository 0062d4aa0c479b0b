package import BrokerKit
package import Crypto
internal import DeviceLab
internal import Foundation
internal import Kafka
internal import KafkaPorts
internal import Streams

/// A configuration with receipts and a team's DeviceCheck key, the processes of the fraud metric on it, and Apple's double
/// beside them.
package final class RefreshSite {
    private static let keyFile = "devicecheck.p8"

    package let workplace: ProgramWorkplace
    package let apple: AppleDouble
    package let key: SigningKey
    /// What the fraud metric adds to the configuration's files.
    package let additions: [String]

    /// - Parameter servers: a cluster without these topics, which ``createTopics()`` makes.
    package init(_ prefix: String, servers: String) throws {
        let (port, team, kid) = (try BrokerPorts.freePort(), "ABCDE12345", "K1")
        let (topic, app) = (#""receipts": "\#(prefix).receipts", "#, #""risk": {"mode": "report"}, "#)
        key = try SigningKey.generate(.p256)
        var options = ProgramWorkplace.Options()
        (options.prefix, options.partitions, options.topicMaker) = (prefix, 3, .nobody)
        options.topicMembers = topic
        options.members = """
            "risk": {"keys": [{"team": "\(team)", "kid": "\(kid)", "file": "\(Self.keyFile)"}], "first": "1s", \
            "again": "24h", "late": "24h", "callsPerSecond": 100, \
            "endpoints": {"production": "http://127.0.0.1:\(port)/v1/attestationData"}},
            """
        additions = [options.members, topic, app]
        workplace = try ProgramWorkplace(servers: servers, options)
        let known = DeviceCheckKey(team: team, kid: kid, publicKey: key.publicKey)
        apple = AppleDouble(workplace.ca, known, port: port)
        try workplace.rewrite("apps.json") { $0.replacing(#""appId":"#, with: app + #""appId":"#) }
        let (files, pem) = (FileManager.default, Data(key.pem))
        guard files.createFile(atPath: keyPath, contents: pem, attributes: [.posixPermissions: 0o600]) else {
            throw ClusterFault(description: "cannot write \(keyPath)")
        }
    }

    package var receipts: String { workplace.topic("receipts") }
    package var keyPath: String { workplace.config + "/" + Self.keyFile }

    package func createTopics() throws {
        try workplace.done("create-topics", "--partitions", String(workplace.partitions))
    }

    package func worker(_ name: String) throws -> ProgramProcess { try workplace.start("run", "--instance", name) }

    package func refresher(_ name: String) throws -> ProgramProcess {
        try workplace.start("refresh-receipts", "--instance", name)
    }
}

// MARK: - The lines

extension RefreshSite {
    private static let lines = ["first", "again", "late"]

    package var groups: [String] { Self.lines.map { "\(workplace.group)-risk-\($0)" } }

    /// Whether the workers have judged all there is, and the lines have nothing to exchange.
    package func isSettled(_ watch: DrainWatch) throws -> Bool {
        // In this order: receipts come with a request's commit, and a line commits an exchange after its request.
        guard try watch.isDrained(), watch.committed > 0, try lineWork().unread.isEmpty else { return false }
        return try watch.isDrained()
    }

    /// How many exchanges of each key's receipts the lines' positions have passed, and the records that they have not
    /// passed although they can have been exchanged by now, a line of text each.
    func lineWork() throws -> (passed: [String: Int], unread: [String]) {
        let records = try workplace.records(of: receipts).filter { $0.value != nil }
        var (passed, unread): ([String: Int], [String]) = ([:], [])
        for (line, group) in zip(Self.lines, groups) {
            let committed = try Admin(workplace.properties)
                .committedOffsets(ofGroup: group, topic: receipts, partitions: Array(0..<workplace.partitions))
            let positions = Dictionary(uniqueKeysWithValues: committed.map { ($0.partition, $0.offset ?? 0) })
            // Partitions with a receipt of Apple's: it waits for a day, and what comes after it does too.
            var held: Set<Int32> = []
            // Only what was never exchanged lacks its first metric.
            for record in records where line != "first" || record.text(of: "type") == "ATTEST" {
                if record.text(of: "type") == "RECEIPT" { held.insert(record.partition) }
                if record.offset < positions[record.partition] ?? 0 {
                    passed[record.keyText, default: 0] += 1
                } else if !held.contains(record.partition) {
                    unread.append("line \(line) has not passed \(RecordPlace(record))")
                }
            }
        }
        return (passed, unread)
    }
}

extension InboundRecord {
    var keyText: String { String(decoding: key ?? [], as: UTF8.self) }
}
