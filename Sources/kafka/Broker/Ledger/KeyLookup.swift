package import AppAttest
internal import AppCheck
internal import Crypto
internal import JSON
internal import Kafka
internal import KafkaPorts
package import Pipeline
package import Settings

/// `key`: what the ledger topic has of one key.
package struct KeyLookup {
    /// A key by its ID, or by the tag that events and `risk` show instead of it.
    package enum Subject: Equatable {
        case key(KeyID)
        case tag(String)

        /// - Returns: nil for a text that is neither a key ID in either base64 alphabet nor 16 hexadecimal digits.
        package init?(_ text: String) {
            let bytes = Array(text.utf8)
            if bytes.count == 16, bytes.allSatisfy({ "0123456789abcdef".utf8.contains($0) }) {
                self = .tag(text)
                return
            }
            guard let key = Base64.decode(bytes).flatMap({ KeyID($0.span) }) else { return nil }
            self = .key(key)
        }

        func isOf(_ key: KeyID) -> Bool {
            switch self {
            case .key(let own): own == key
            case .tag(let tag): DeviceTag.text(of: key.recordKey).elementsEqual(tag.utf8)
            }
        }
    }

    /// A key on a partition: its record, its ban, and the stream time by which both count.
    package struct Finding: Equatable {
        package let key: KeyID
        package let partition: Int32
        package let record: KeyRecord?
        package let ban: Ban?
        /// The partition's last mark.
        package let mark: PartitionMark?

        package var streamTime: EvaluationTime? { mark?.streamTime }
    }

    private let subject: Subject
    private var records: [Int32: [KeyID: KeyRecord]] = [:]
    private var bans: [Int32: [Digest: Ban]] = [:]
    private var marks: [Int32: PartitionMark] = [:]

    package init(_ subject: Subject) { self.subject = subject }

    /// Reads the ledger up to the ends that it has now: of a key ID the partition that it hashes to, else all.
    ///
    /// - Parameters:
    ///   - partitioner: nil = keys are not checked against their partition.
    ///   - progress: called with the number of ledger records read.
    package static func findings(
        of subject: Subject,
        _ access: LedgerAccess,
        partitioner: PartitionerSetting,
        progress: (Int) -> Void
    ) throws -> [Finding] {
        let partitions = try access.partitionCount()
        var lookup = KeyLookup(subject)
        var chosen: Set<Int32>?
        if case .key(let key) = subject, let partitioner = partitioner.partitioner {
            chosen = [partitioner.partition(of: key.recordKey, count: partitions)]
        }
        try LedgerReader(access, partitions: partitions, only: chosen).changes(progress: progress) { change, record in
            if let change { lookup.take(change, of: record.partition) }
        }
        return lookup.findings
    }

    /// Takes a record of the topic; those of a partition in their order.
    package mutating func take(_ change: LedgerChange, of partition: Int32) {
        switch change {
        case .key(let key, let record) where subject.isOf(key): records[partition, default: [:]][key] = record
        case .keyForgotten(let key): records[partition]?[key] = nil
        case .ban(let id, let ban): bans[partition, default: [:]][id] = ban
        case .banLifted(let id): bans[partition]?[id] = nil
        case .mark(let mark): marks[partition] = mark
        case .markForgotten: marks[partition] = nil
        default: break
        }
    }

    /// Each key with a record or a ban, the lowest partition first.
    package var findings: [Finding] {
        Set(records.keys).union(bans.keys).sorted().flatMap { partition -> [Finding] in
            let own = records[partition] ?? [:]
            var keys = Array(own.keys)
            // A ban stands without a record, too.
            if case .key(let key) = subject, own[key] == nil { keys.append(key) }
            return keys.map { finding(of: $0, own[$0], partition) }.filter { $0.record != nil || $0.ban != nil }
        }
    }

    private func finding(of key: KeyID, _ record: KeyRecord?, _ partition: Int32) -> Finding {
        let (ban, mark) = (bans[partition]?[BanID.key(key)], marks[partition])
        return Finding(key: key, partition: partition, record: record, ban: ban, mark: mark)
    }
}
