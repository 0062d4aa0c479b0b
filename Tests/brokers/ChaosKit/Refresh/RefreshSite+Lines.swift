internal import BrokerKit
internal import Kafka
internal import KafkaPorts
internal import Streams

/// What the three lines have to do with the receipts topic.
private struct LineWork {
    /// The offset behind the last record, by partition.
    var ends: [Int32: Int64] = [:]
    /// The first receipt that has to wait for a day, behind which the lines `again` and `late` exchange none.
    var waiting: [Int32: Int64] = [:]
    var exchanges = 0

    init(_ site: RefreshSite) throws {
        try TopicDump.read(site.receipts, site.workplace.properties, partitions: site.settings.partitions) { record in
            let type = record.headers.last { $0.name == Array("type".utf8) }?.value
            ends[record.partition] = record.offset + 1
            if type == Array("RECEIPT".utf8), waiting[record.partition] == nil {
                waiting[record.partition] = record.offset
            }
            // Attestations are older than a day.
            if type == Array("ATTEST".utf8) { exchanges += waiting[record.partition] == nil ? 3 : 1 }
        }
    }
}

extension RefreshSite {
    /// The partitions of which a line's group has not committed yet what it can have done by now.
    ///
    /// - Returns: a line each; empty = the lines have done their work.
    package func unreadLines() throws -> [String] {
        let work = try LineWork(self)
        let admin = try Admin(workplace.properties)
        var left: [String] = []
        for line in ["first", "again", "late"] {
            let committed = try admin.committedOffsets(
                ofGroup: "\(workplace.group)-risk-\(line)",
                topic: receipts,
                partitions: Array(0..<settings.partitions)
            )
            for place in committed {
                guard let end = work.ends[place.partition] else { continue }
                let goal = line == "first" ? end : work.waiting[place.partition] ?? end
                let offset = place.offset ?? 0
                if offset < goal { left.append("\(line) \(place.partition): \(offset) of \(goal)") }
            }
        }
        return left
    }

    /// How many exchanges the lines had to make.
    package func exchanges() throws -> Int { try LineWork(self).exchanges }
}
