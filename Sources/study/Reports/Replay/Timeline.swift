/// The marks of a population along the columns of time.
struct Timeline {
    private let marks: RefusalTimeline
    private let labels: [UInt64]
    private let axis: TimeAxis
    /// The outcomes that attestations, and that other requests, met.
    private var met = (attestations: ReasonSet(), others: ReasonSet())
    /// The columns with marks.
    private var marked: Range<Int>
    /// One mark of each device, of its attestations and of its other requests.
    private var samples: (attestations: [Sample], others: [Sample]) = ([], [])

    private struct Sample {
        let device: Int
        let column: Int
        let outcome: Int
    }

    init(_ population: Population, _ columns: TimeCounts.Columns) {
        marks = population.marks
        labels = population.devices.devices.map(\.label)
        axis = columns.axis
        marked = axis.count..<axis.count
        var (first, last) = (axis.count, 0)
        marks.forEach { _, mark, isAttestation in
            _ = isAttestation ? met.attestations.insert(mark.outcome) : met.others.insert(mark.outcome)
            if let column = column(mark.time) { (first, last) = (min(first, column), max(last, column + 1)) }
        }
        marked = min(first, last)..<last
        samples = (sample(ofAttestations: true), sample(ofAttestations: false))
    }

    /// How many windows there are to compare.
    var windows: Int { axis.count * (axis.count + 1) / 2 }

    private func column(_ time: Int64) -> Int? {
        let column = time / axis.width - axis.start / axis.width
        return time >= axis.start && column < axis.count ? Int(column) : nil
    }

    private func isMeant(_ reason: Int, _ isAttestation: Bool) -> Bool {
        reason == 0 || (isAttestation ? met.attestations : met.others).contains(reason)
    }

    /// Whether later marks were left out.
    var isFull: Bool { marks.isFull }

    private static func isHit(_ outcome: Int, _ reason: Int) -> Bool {
        reason == 0 ? outcome != Int(OutcomeList.accepted) : outcome == reason
    }

    // MARK: Samples

    /// A device's marks hang together, so one of them stands for it: whichever has the least of hashes, whatever the
    /// order in which they came.
    private func sample(ofAttestations isMeant: Bool) -> [Sample] {
        var best = [(hash: UInt64, sample: Sample)?](repeating: nil, count: labels.count)
        var loose: [Sample] = []
        marks.forEach { device, mark, isAttestation in
            guard isAttestation == isMeant, let column = column(mark.time) else { return }
            let sample = Sample(device: device, column: column, outcome: Int(mark.outcome))
            guard device != RefusalTimeline.nobody else { return loose.append(sample) }
            let hash = Self.mix(labels[device] ^ Self.mix(UInt64(bitPattern: mark.time) << 8 | UInt64(mark.outcome)))
            if hash < best[device]?.hash ?? .max { best[device] = (hash, sample) }
        }
        return best.compactMap { $0?.sample } + loose
    }

    /// The finaliser of SplitMix64.
    private static func mix(_ word: UInt64) -> UInt64 {
        var word = word &+ 0x9E37_79B9_7F4A_7C15
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    /// The window with most hits beyond the average among samples, its cell and that of all columns.
    ///
    /// - Parameter isLeft: tells devices that are left out.
    func strongest(_ reason: Int, without isLeft: (Int) -> Bool) -> (window: Range<Int>, inside: Cell, all: Cell)? {
        var (cells, all) = ([Cell](repeating: Cell(), count: axis.count), Cell())
        for (list, isAttestation) in [(samples.attestations, true), (samples.others, false)] {
            guard isMeant(reason, isAttestation) else { continue }
            for sample in list where sample.device == RefusalTimeline.nobody || !isLeft(sample.device) {
                let hits = Self.isHit(sample.outcome, reason) ? 1 : 0
                cells[sample.column].units += 1
                cells[sample.column].hits += hits
                (all.units, all.hits) = (all.units + 1, all.hits + hits)
            }
        }
        // The greatest sum of consecutive gains.
        var (best, sum, first) = ((window: 0..<0, sum: 0.0), 0.0, 0)
        for column in cells.indices {
            if sum <= 0 { (sum, first) = (0, column) }
            sum += cells[column].excess(over: all)
            if sum > best.sum { best = (first..<column + 1, sum) }
        }
        guard !best.window.isEmpty else { return nil }
        return (best.window, cells[best.window].reduce(Cell()) { $0.with($1) }, all)
    }

    // MARK: Windows

    /// The devices that asked in a window and outside of it, and the hits of each.
    func census(
        _ reason: Int,
        in window: Range<Int>,
        _ devices: [DeviceTable.Device],
        without isLeft: (Int) -> Bool
    ) -> (inside: Cell, outside: Cell) {
        // Bits: asked inside, hit inside, asked outside, hit outside.
        var seen = [UInt8](repeating: 0, count: devices.count)
        var cells = [Cell(), Cell()]
        marks.forEach { device, mark, isAttestation in
            guard isMeant(reason, isAttestation) else { return }
            let isInside = column(mark.time).map { window.contains($0) } ?? false
            let isHit = Self.isHit(Int(mark.outcome), reason)
            guard device == RefusalTimeline.nobody else {
                seen[device] |= (isHit ? 3 : 1) << (isInside ? 0 : 2)
                return
            }
            cells[isInside ? 0 : 1].add(loose: 1, hits: isHit ? 1 : 0, refused: isHit ? 1 : 0)
        }
        for (place, bits) in seen.enumerated() where bits != 0 && !isLeft(place) {
            if bits & 1 != 0 { cells[0].add(devices[place], isHit: bits & 2 != 0) }
            if bits & 4 != 0 { cells[1].add(devices[place], isHit: bits & 8 != 0) }
        }
        return (cells[0], cells[1])
    }

    /// A window as times; one that reaches to the first or last mark is open there.
    func span(_ window: Range<Int>) -> Association.Span {
        Association.Span(
            from: window.lowerBound > marked.lowerBound ? axis.time(window.lowerBound) : nil,
            until: window.upperBound < marked.upperBound ? axis.time(window.upperBound) : nil
        )
    }

    // MARK: Beginnings and ends

    /// The chance that hits lie on one side of a time.
    private static let chance = 0.001
    /// One of so many devices may lie on the other side.
    private static let strays = 50

    /// The times from which on and until which these devices met a reason, where chance does not explain that no hit
    /// lies before or after them.
    func span(_ reason: Int, of isMeantDevice: (Int) -> Bool) -> Association.Span {
        var (firsts, lasts): ([Int: Int64], [Int: Int64]) = ([:], [:])
        marks.forEach { device, mark, _ in
            guard device != RefusalTimeline.nobody, Self.isHit(Int(mark.outcome), reason), isMeantDevice(device) else {
                return
            }
            firsts[device] = min(firsts[device] ?? mark.time, mark.time)
            lasts[device] = max(lasts[device] ?? mark.time, mark.time)
        }
        let from = bound(firsts.values.sorted(), reason) { $0 < $1 }
        let until = bound(lasts.values.sorted(by: >), reason) { $0 > $1 }
        return Association.Span(from: from, until: until.flatMap { isOver(after: $0, isMeantDevice) ? $0 : nil })
    }

    /// Whether a refusal has ended, instead of nobody asking any more: some of these devices were accepted later.
    private func isOver(after end: Int64, _ isMeantDevice: (Int) -> Bool) -> Bool {
        guard !isFull else { return false }
        var accepted: Set<Int> = []
        marks.forEach { device, mark, _ in
            guard mark.time > end, mark.outcome == OutcomeList.accepted, device != RefusalTimeline.nobody else {
                return
            }
            if isMeantDevice(device) { accepted.insert(device) }
        }
        return accepted.count >= Diagnosis.leastHits
    }

    /// The first of these times, or the first but for strays, if so many requests lie beyond it that chance would have
    /// put a hit there.
    private func bound(_ times: [Int64], _ reason: Int, isBeyond: (Int64, Int64) -> Bool) -> Int64? {
        for place in Set([0, times.count / Self.strays]).sorted() where place < times.count {
            var (all, beyond) = (0, 0)
            marks.forEach { _, mark, isAttestation in
                guard isMeant(reason, isAttestation) else { return }
                all += 1
                if isBeyond(mark.time, times[place]) { beyond += 1 }
            }
            let logChance = LogChance.of(1 - Double(beyond) / Double(max(1, all))) * Double(times.count - place)
            if logChance < LogChance.of(Self.chance) { return times[place] }
        }
        return nil
    }
}
