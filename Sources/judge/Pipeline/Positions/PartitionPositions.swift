package import Streams

/// The positions of a partition when it is taken over: the group's offset, the ledger's mark, and the first and last
/// request. A position that contradicts another is never trusted: the partition is held.
package struct PartitionPositions: Sendable {
    package enum Decision: Sendable, Equatable {
        /// Reading starts at an offset; nil = at the oldest request.
        case start(Int64?, PartitionStart.Report)
        /// Reading waits for an operator; the sentence says what happened and what helps.
        case hold(String)
    }

    /// Committed with every offset of a worker. Kafka's own tools erase it when they set an offset.
    package static let metadata = Array("attest-worker/1".utf8)

    package var partition: Int32
    /// The group's next offset.
    package var committed: Int64?
    /// Whether a worker of this version committed it.
    package var isOwn: Bool
    /// Whether the group has an offset of any partition of the requests.
    package var groupHasOffsets: Bool
    /// The ledger's last mark.
    package var mark: PositionMark?
    package var ledgerIsEmpty: Bool
    /// `group.id` in UTF-8.
    package var group: [UInt8]
    /// How many partitions the requests have; nil = any number will do.
    package var partitions: Int32?
    /// Another number, which some partition's mark names; nil = none does.
    package var otherPartitions: Int32?
    /// The oldest request, and the end after those of open transactions too; nil = the leader has not answered. A
    /// position outside this range shows when it is read.
    package var ends: (low: Int64, high: Int64)?

    /// - Parameter committed: the group's next offset; nil = none.
    package init(_ partition: Int32, committed: Int64?, isOwn: Bool, group: [UInt8]) {
        (self.partition, self.committed, self.isOwn, self.group) = (partition, committed, isOwn, group)
        groupHasOffsets = committed != nil
        ledgerIsEmpty = true
    }

    package var decision: Decision {
        if let sentence = misplacement { return .hold(sentence) }
        if let mark, let owner = mark.group, owner != group { return .hold(ofAnotherGroup(mark, owner)) }
        guard let committed else { return withoutOffset() }
        guard let mark, mark.group != nil, let applied = mark.appliedOffset else { return ofOlderVersion(committed) }
        if committed == applied { return begin(committed) }
        return committed > applied ? ahead(committed, of: applied) : behind(committed, mark, applied)
    }

    /// A partition that was added has no mark, and keys that now belong to it lie on others.
    private var misplacement: String? {
        guard let partitions else { return nil }
        return KeyPlacement.contradiction(mark?.partitions, partitions)
            ?? KeyPlacement.contradiction(otherPartitions, partitions)
    }

    private func withoutOffset() -> Decision {
        guard let mark else {
            return ledgerIsEmpty || groupHasOffsets ? begin(nil) : .hold(offsetsOfOlderVersionGone)
        }
        guard mark.group != nil, let applied = mark.appliedOffset else { return .hold(offsetsOfOlderVersionGone) }
        // Written by import-keys: no request was applied.
        if applied == 0 { return begin(nil) }
        // The crash came between the first ledger records and the first offset.
        if mark.delivery == .atLeastOnceUncommitted { return begin(applied, uncommitted: applied) }
        return .hold(offsetGone(applied))
    }

    /// No mark, or a mark without group and delivery.
    private func ofOlderVersion(_ committed: Int64) -> Decision {
        let applied = mark?.appliedOffset ?? 0
        // A worker of this version leaves a mark with every offset, unless an older version's mark came after it.
        guard !isOwn || (mark != nil && applied >= committed) else { return .hold(ledgerLost(committed, nil)) }
        if applied > committed {
            return begin(
                committed,
                note: "requests before offset \(applied) were answered by an older version (at least once): skipped"
            )
        }
        return begin(
            committed,
            note: mark == nil && ledgerIsEmpty && committed > 0
                ? "the ledger remembers nothing of the requests before offset \(committed): right after a reset, and "
                    + "where nothing was accepted yet" : nil
        )
    }

    private func ahead(_ committed: Int64, of applied: Int64) -> Decision {
        guard !isOwn else { return .hold(ledgerLost(committed, applied)) }
        return begin(
            committed,
            skipped: committed - applied,
            note: "the offset was moved from \(applied) to \(committed), or an older version took turns: up to "
                + "\(committed - applied) requests are not read"
        )
    }

    private func behind(_ committed: Int64, _ mark: PositionMark, _ applied: Int64) -> Decision {
        // A worker died between its first ledger records and its first offset: the offset that it found still stands.
        if mark.delivery == .atLeastOnceUncommitted { return begin(applied, uncommitted: applied) }
        guard isOwn else { return .hold(movedBack(committed, applied)) }
        return mark.delivery == .transaction
            ? .hold(torn(committed, applied)) : begin(applied, uncommitted: applied)
    }

    /// - Parameter offset: nil = the oldest request.
    private func begin(
        _ offset: Int64?,
        skipped: Int64 = 0,
        note: String? = nil,
        uncommitted: Int64? = nil
    ) -> Decision {
        var report = PartitionStart.Report()
        report.uncommitted = uncommitted
        (report.skippedAtMost, report.note, report.hasCommitted) = (skipped, note, committed != nil && isOwn)
        guard let offset, let ends else { return .start(offset, report) }
        guard offset <= ends.high else { return .hold(beyondEnd(offset, ends.high)) }
        guard offset < ends.low else { return .start(offset, report) }
        // Markers and aborted records count too, so fewer requests may be lost.
        report.skippedAtMost += ends.low - offset
        report.deletedAtMost += ends.low - offset
        let lost = "retention deleted up to \(ends.low - offset) requests, from offset \(offset) on, unread"
        report.note = [note, lost].compactMap(\.self).joined(separator: "; ")
        return .start(ends.low, report)
    }
}

// MARK: - Sentences

extension PartitionPositions {
    private func reset(_ target: String) -> String {
        "attest-worker reset --config DIR --offsets-only --partitions \(partition) --to-\(target)"
    }

    private var offsetsOfOlderVersionGone: String {
        "the ledger remembers keys and the group has no offset: it expired or was deleted, or the keys were imported by an "
            + "older version; if the requests are to be read from their beginning: \(reset("beginning")), if only new ones: "
            + reset("end")
    }

    private func offsetGone(_ applied: Int64) -> String {
        "requests before offset \(applied) are answered and the group has no offset: it expired or was deleted, or the "
            + "requests topic was recreated; to continue there: \(reset("applied")), if the topic is a new one: "
            + reset("beginning")
    }

    private func ofAnotherGroup(_ mark: PositionMark, _ owner: [UInt8]) -> String {
        let scalars = String(decoding: owner.prefix(249), as: UTF8.self).unicodeScalars
        let name = String(String.UnicodeScalarView(scalars.filter { $0.properties.generalCategory != .control }))
        let applied = mark.appliedOffset.map { " up to offset \($0)" } ?? ""
        return "group \(name) has written this ledger\(applied): if the group was renamed: \(reset("applied")); if two "
            + "groups run, each needs a ledger topic of its own"
    }

    private func ledgerLost(_ committed: Int64, _ applied: Int64?) -> String {
        let known = applied.map { "its last mark is of offset \($0)" } ?? "it has no mark"
        return "the group is at offset \(committed) and the ledger has no state for it (\(known)): it was emptied, "
            + "truncated or recreated; restore the keys with attest-worker import-keys --config DIR, then "
            + "\(reset("committed")); used challenges and tokens stay forgotten (Runbook, The ledger is lost)"
    }

    private func movedBack(_ committed: Int64, _ applied: Int64) -> String {
        "the group's offset was moved back to \(committed), and requests before \(applied) are answered: to continue "
            + "after them: \(reset("applied")), to judge them again: \(reset("committed"))"
    }

    private func torn(_ committed: Int64, _ applied: Int64) -> String {
        "the group is at offset \(committed) and the ledger at \(applied), which one transaction wrote: the group's offsets "
            + "went back; to continue at the ledger's: \(reset("applied")), to judge requests again: "
            + reset("committed")
    }

    private func beyondEnd(_ offset: Int64, _ end: Int64) -> String {
        "reading starts at offset \(offset), beyond the end \(end) of the requests topic, which was truncated or "
            + "recreated; to read what is left: \(reset("beginning")), to read only new requests: \(reset("end"))"
    }
}
