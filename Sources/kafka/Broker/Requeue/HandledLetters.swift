/// The offsets of a dead-letter partition that `requeue` is done with: all before `next`, and ranges after it. The
/// group keeps `next` as its offset and the ranges as the offset's metadata.
struct HandledLetters: Equatable {
    /// Brokers take 4,096 bytes of metadata by default.
    static let metadataBytes = 4_000
    private static let version = "r1"

    private(set) var next: Int64
    /// The ranges, ascending, apart from each other, after `next`.
    private(set) var ranges: [Range<Int64>] = []

    init(next: Int64) { self.next = next }

    /// - Returns: nil for metadata that this version did not write.
    init?(next: Int64, metadata: [UInt8]) {
        self.next = next
        guard !metadata.isEmpty else { return }
        let words = metadata.split(separator: UInt8(ascii: " "))
        guard words.first?.elementsEqual(Self.version.utf8) == true else { return nil }
        var end = next
        for word in words.dropFirst() {
            let parts = word.split(separator: UInt8(ascii: "+")).map { Int64(String(decoding: $0, as: UTF8.self)) }
            guard parts.count == 2, let gap = parts[0], let count = parts[1], gap > 0, count > 0 else { return nil }
            let (start, overflow) = end.addingReportingOverflow(gap)
            let (stop, alsoOverflow) = start.addingReportingOverflow(count)
            guard !overflow, !alsoOverflow else { return nil }
            ranges.append(start..<stop)
            end = stop
        }
    }

    /// `r1`, then each range as its distance from the one before and its length.
    var metadata: [UInt8] {
        guard !ranges.isEmpty else { return [] }
        var (text, end) = (Self.version, next)
        for range in ranges {
            text += " \(range.lowerBound - end)+\(range.count)"
            end = range.upperBound
        }
        return Array(text.utf8)
    }

    var fits: Bool { metadata.count <= Self.metadataBytes }

    func contains(_ offset: Int64) -> Bool {
        if offset < next { return true }
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound <= offset { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(offset)
    }

    mutating func insert(_ added: [Range<Int64>]) {
        var merged: [Range<Int64>] = []
        for range in (ranges + added).sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > next {
            if range.lowerBound <= next {
                next = range.upperBound
            } else if let last = merged.last, range.lowerBound <= last.upperBound {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
            } else {
                merged.append(range)
            }
        }
        ranges = merged
    }

    /// Letters before this offset are gone.
    mutating func raise(to low: Int64) {
        if low > next { insert([next..<low]) }
    }
}
