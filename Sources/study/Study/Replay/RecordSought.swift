package import CommandFrame
internal import Settings
internal import Streams

/// The record that is looked for in a capture.
package enum RecordSought: CustomStringConvertible {
    case place(partition: Int32, offset: Int64)
    case requestID([UInt8])

    package init(place text: String) throws(UsageFault) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let partition = Int32(parts[0]), let offset = Int64(parts[1]), partition >= 0,
            offset >= 0
        else { throw UsageFault("--record must be PARTITION/OFFSET, such as 3/1042, not '\(text.printable)'.") }
        self = .place(partition: partition, offset: offset)
    }

    package var description: String {
        switch self {
        case .place(let partition, let offset): "record \(partition)/\(offset)"
        case .requestID(let id): "request id '\(String(decoding: id, as: UTF8.self).printable)'"
        }
    }

    func isMet(by record: InboundRecord) -> Bool {
        switch self {
        case .place(let partition, let offset): record.partition == partition && record.offset == offset
        case .requestID(let id): Self.requestID(of: record) == id
        }
    }

    /// The last header of that name; a record's place stands in for it.
    private static func requestID(of record: InboundRecord) -> [UInt8] {
        record.headers.last { $0.name.elementsEqual("request-id".utf8) }?.value
            ?? Array("\(record.topic)/\(record.partition)/\(record.offset)".utf8)
    }
}

final class CaptureUntil {
    let lines: CaptureLines
    private let sought: RecordSought
    private(set) var found: InboundRecord?

    init(_ path: String, _ sought: RecordSought, skipsBadLines: Bool) throws(CommandFault) {
        lines = try CaptureLines(path: path, skipsBadLines: skipsBadLines)
        self.sought = sought
    }

    /// - Returns: nil from the sought record on, and at the end.
    func next() throws(CommandFault) -> InboundRecord? {
        guard found == nil, let record = try lines.next() else { return nil }
        guard sought.isMet(by: record) else { return record }
        found = record
        return nil
    }

    private static let mostOthers = 5

    /// The places of later records that are sought too, a few of them.
    func others() throws -> [String] {
        guard case .requestID = sought else { return [] }
        var places: [String] = []
        while places.count < Self.mostOthers, let record = try lines.next() {
            if sought.isMet(by: record) { places.append("\(record.partition)/\(record.offset)") }
        }
        return places
    }
}

/// The source of requests whose outputs are dropped: it has one reader and no group.
final class DroppingSource: RequestSource, PackedTransaction {
    private static let mostRecords = 1024

    private let next: () throws -> InboundRecord?

    /// - Parameter next: gives one record after the other; nil at the end.
    init(next: @escaping () throws -> InboundRecord?) { self.next = next }

    func poll(_ limits: BatchLimits, waitMilliseconds: Int) throws -> PollRound {
        var round = PollRound()
        while round.records.count < min(limits.records, Self.mostRecords) {
            guard let record = try next() else {
                round.ended = true
                break
            }
            round.records.append(.record(record))
        }
        return round
    }

    var member: (any GroupMember)? { nil }
    var packer: @Sendable (consuming [OutboundRecord]) -> [PackedOutput] { { _ in [] } }
    var isAtomic: Bool { true }
    var timeShare: Double { 0 }
    func write(_ outputs: [[PackedOutput]], _ positions: [PartitionPosition], of generation: Generation) {}
    func abort() -> Bool { preconditionFailure("nothing here can fail") }
}
