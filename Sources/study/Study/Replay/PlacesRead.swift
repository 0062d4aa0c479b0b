internal import AppAttest

/// The places of the records read so far, so that a record that stands in two captures is judged once.
///
/// Captures overlap at their ends, as hourly ones do, so most copies follow soon. Of the latest places, 16 million where
/// offsets are dense, a digest of the record is kept (140 MB), and of all before them only that they were read: as
/// ranges, one a partition where nothing is missing. A copy from there is a fault: without the record's bytes
/// it cannot be compared.
package struct PlacesRead {
    package enum Finding: Equatable, Sendable {
        /// Nothing was read there.
        case new
        /// A record with this digest was read there.
        case read(UInt64)
        /// Something was read there, too long ago to be compared.
        case forgotten
    }

    private struct Partition: Hashable {
        let topic: ExactText
        let number: Int32
    }

    /// Offsets side by side.
    private struct Block: Hashable {
        /// The number of its topic's partition: each gets one when it is first met.
        let stream: Int
        let number: Int64
    }

    private static let blockOffsets = 64

    private let mostBlocks: Int
    private let mostRanges: Int
    private var streams: [Partition: Int] = [:]
    /// The first topic that a record named. Some tools name none: theirs is this one.
    private var firstTopic: ExactText?
    /// Ascending, by stream: what was read in blocks that are gone.
    private var gone: [[ClosedRange<Int64>]] = []
    private var ranges = 0
    private var slots: [Block: Int] = [:]
    /// The blocks by slot. A slot is used again when there are as many as there may be, the oldest first.
    private var blocks: [Block] = []
    private var read: [UInt64] = []
    private var digests: [UInt64] = []
    private var oldest = 0
    /// The place of the record before: records of a partition follow each other.
    private var lastTopic = ""
    private var lastPartition: (number: Int32, stream: Int)?
    private var lastSlot: Int?

    /// - Parameters:
    ///   - mostBlocks: of 64 offsets each, whose records' digests are kept.
    ///   - mostRanges: of older offsets, about; beyond them a range takes in the gap before it.
    package init(mostBlocks: Int = 1 << 18, mostRanges: Int = 1 << 20) {
        (self.mostBlocks, self.mostRanges) = (mostBlocks, mostRanges)
    }

    /// How many records' digests are kept where no offset is missing.
    package var comparable: Int { mostBlocks * Self.blockOffsets }

    /// Notes a record.
    ///
    /// - Parameters:
    ///   - offset: 0 or more.
    ///   - topic: empty where the capture names none.
    ///   - digest: kept for a record that stands there too.
    package mutating func note(_ topic: String, _ partition: Int32, _ offset: Int64, digest: UInt64) -> Finding {
        let stream = stream(topic, partition)
        let block = Block(stream: stream, number: offset / Int64(Self.blockOffsets))
        let place = Int(offset % Int64(Self.blockOffsets))
        let bit: UInt64 = 1 << UInt64(place)
        if let slot = slot(of: block) {
            if read[slot] & bit != 0 { return .read(digests[slot * Self.blockOffsets + place]) }
            if isGone(offset, stream) { return .forgotten }
            lastSlot = slot
        } else {
            if isGone(offset, stream) { return .forgotten }
            lastSlot = take(block)
        }
        if let slot = lastSlot {
            read[slot] |= bit
            digests[slot * Self.blockOffsets + place] = digest
        }
        return .new
    }

    private mutating func stream(_ topic: String, _ partition: Int32) -> Int {
        if let last = lastPartition, last.number == partition, topic.utf8.elementsEqual(lastTopic.utf8) {
            return last.stream
        }
        let text = ExactText(topic)
        if firstTopic == nil, !topic.isEmpty { firstTopic = text }
        let key = Partition(topic: text == firstTopic ? "" : text, number: partition)
        let stream = streams[key] ?? gone.count
        if stream == gone.count {
            streams[key] = stream
            gone.append([])
        }
        (lastTopic, lastPartition) = (topic, (partition, stream))
        return stream
    }

    private func slot(of block: Block) -> Int? {
        if let lastSlot, blocks[lastSlot] == block { return lastSlot }
        return slots[block]
    }

    private mutating func take(_ block: Block) -> Int {
        let slot: Int
        if blocks.count < mostBlocks {
            slot = blocks.count
            blocks.append(block)
            read.append(0)
            digests.append(contentsOf: repeatElement(0, count: Self.blockOffsets))
        } else {
            slot = oldest
            oldest = (oldest + 1) % mostBlocks
            forget(slot)
            (blocks[slot], read[slot]) = (block, 0)
        }
        slots[block] = slot
        return slot
    }

    private mutating func forget(_ slot: Int) {
        let block = blocks[slot]
        slots[block] = nil
        let first = block.number * Int64(Self.blockOffsets)
        var bits = read[slot]
        while bits != 0 {
            let start = bits.trailingZeroBitCount
            let count = (~(bits >> UInt64(start))).trailingZeroBitCount
            add(first + Int64(start)...first + Int64(start + count - 1), to: block.stream)
            bits = start + count == Self.blockOffsets ? 0 : (bits >> UInt64(start + count)) << UInt64(start + count)
        }
    }

    private mutating func add(_ range: ClosedRange<Int64>, to stream: Int) {
        let index = Self.index(behind: range.lowerBound, in: gone[stream])
        var (joined, places) = (range, index..<index)
        // A range that took in a gap may hold all of it already.
        if index > 0, gone[stream][index - 1].upperBound >= range.lowerBound - 1 {
            let before = gone[stream][index - 1]
            (joined, places) = (before.lowerBound...max(before.upperBound, range.upperBound), index - 1..<index)
        }
        if index < gone[stream].count, joined.upperBound >= gone[stream][index].lowerBound - 1 {
            (joined, places) = (joined.lowerBound...gone[stream][index].upperBound, places.lowerBound..<index + 1)
        }
        if places.isEmpty, ranges >= mostRanges, !gone[stream].isEmpty {
            // Across a gap: a record from there is then a fault, and no place that was read counts as new.
            let near = gone[stream][max(index, 1) - 1]
            let ends = (min(near.lowerBound, range.lowerBound), max(near.upperBound, range.upperBound))
            (joined, places) = (ends.0...ends.1, max(index, 1) - 1..<max(index, 1))
        }
        ranges += 1 - places.count
        gone[stream].replaceSubrange(places, with: [joined])
    }

    private func isGone(_ offset: Int64, _ stream: Int) -> Bool {
        // Offsets ascend, but for captures that overlap.
        guard let last = gone[stream].last, offset <= last.upperBound else { return false }
        let index = Self.index(behind: offset, in: gone[stream])
        return index > 0 && gone[stream][index - 1].contains(offset)
    }

    /// The index of the first range that begins behind `offset`.
    private static func index(behind offset: Int64, in ranges: [ClosedRange<Int64>]) -> Int {
        var (low, high) = (0, ranges.count)
        if let last = ranges.last, last.lowerBound <= offset { return high }
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].lowerBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
