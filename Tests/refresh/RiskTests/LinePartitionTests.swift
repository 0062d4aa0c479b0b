internal import AppAttest
internal import Risk
internal import TestKit
internal import Testing

@Suite("A line's partition")
struct LinePartitionTests {
    private static let minute = Milliseconds.minute

    private func partition(_ line: ReceiptLine = .first, from offset: Int64 = 0) -> LinePartition {
        LinePartition(line, from: offset, settings: LineSettings())
    }

    /// A partition whose records were created a second apart.
    private func filled(_ count: Int64) -> LinePartition {
        var partition = partition()
        for offset in 0..<count { partition.append(Sample.record(offset, Sample.attest(offset * 1_000))) }
        return partition
    }

    /// Begins all visits that are due.
    private func beginAll(_ partition: inout LinePartition, at time: EvaluationTime) -> [Int64] {
        var begun: [Int64] = []
        while let visit = partition.dueVisit(at: time) {
            partition.begin(visit.offset)
            begun.append(visit.offset)
        }
        return begun
    }

    @Test func `a head that is not due gives the time at which it is`() {
        var partition = filled(2)
        #expect(partition.next == Sample.at(Self.minute))
        #expect(partition.dueVisit(at: Sample.at(Self.minute - 1)) == nil)
        let visit = partition.dueVisit(at: Sample.at(Self.minute))
        #expect(visit?.offset == 0 && visit?.due == Sample.at(Self.minute) && visit?.keptBefore == 0)
        #expect(self.partition().next == nil)
    }

    @Test func `visits begin in the order of offsets, and a visit that is named has not begun`() {
        var partition = filled(5)
        #expect(partition.dueVisit(at: Sample.at(Self.minute))?.offset == 0)
        #expect(partition.dueVisit(at: Sample.at(Self.minute))?.offset == 0)
        #expect(partition.unfinishedCount == 0)
        #expect(beginAll(&partition, at: Sample.at(Self.minute + 2_500)) == [0, 1, 2])
        #expect(partition.unfinishedCount == 3)
        #expect(partition.next == Sample.at(Self.minute + 3_000))
    }

    @Test(arguments: [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 0, 1, 3]] as [[Int64]])
    func `the position is the first visit that has not ended, whatever the order of the ends`(order: [Int64]) {
        var partition = filled(4)
        _ = beginAll(&partition, at: Sample.at(2 * Self.minute))
        var open = Set<Int64>(0..<4)
        #expect(partition.position == 0)
        for offset in order {
            partition.end(offset, .done)
            open.remove(offset)
            #expect(partition.position == open.min() ?? 4)
        }
        #expect(partition.unfinishedCount == 0)
    }

    @Test func `a waiting record holds the position, as an open one does`() {
        var partition = filled(3)
        partition.begin(0)
        partition.end(0, .done)
        #expect(partition.position == 1)
    }

    @Test func `a kept visit holds the position and comes back before the head, not before its time`() {
        var partition = filled(2)
        let time = Sample.at(2 * Self.minute)
        partition.begin(0)
        partition.end(0, .kept(until: time.after(milliseconds: 10)))
        #expect(partition.position == 0 && partition.unfinishedCount == 1)
        #expect(partition.dueVisit(at: time)?.offset == 1)
        let visit = partition.dueVisit(at: time.after(milliseconds: 10))
        #expect(visit?.offset == 0 && visit?.keptBefore == 1)
        partition.begin(0)
        partition.end(0, .done)
        #expect(partition.position == 1 && partition.next == Sample.at(Self.minute + 1_000))
    }

    @Test func `kept visits come back by their own times`() {
        var partition = filled(3)
        let time = Sample.at(2 * Self.minute)
        _ = beginAll(&partition, at: time)
        for (offset, wait) in [(0, 30), (1, 10), (2, 20)] as [(Int64, Int64)] {
            partition.end(offset, .kept(until: time.after(milliseconds: wait)))
        }
        #expect(partition.next == time.after(milliseconds: 10))
        for (offset, wait) in [(1, 10), (2, 20), (0, 30)] as [(Int64, Int64)] {
            let now = time.after(milliseconds: wait)
            #expect(partition.next == now)
            #expect(partition.dueVisit(at: now.after(milliseconds: -1)) == nil)
            #expect(partition.dueVisit(at: now)?.offset == offset)
            partition.begin(offset)
        }
        #expect(partition.next == nil)
    }

    @Test func `a visit that is put aside lets those behind it go, and is resumed with its account`() {
        var partition = partition()
        partition.append(Sample.record(0, Sample.attest(0), Sample.other))
        partition.append(Sample.record(1, Sample.attest(0)))
        let time = Sample.at(Self.minute)
        partition.putAside(0, until: time.after(milliseconds: 900), at: time)
        #expect(partition.dueVisit(at: time)?.offset == 1)
        partition.begin(1)
        partition.end(1, .done)
        #expect(partition.position == 0 && partition.dueVisit(at: time) == nil)
        partition.resume(Sample.account, at: time)
        #expect(partition.dueVisit(at: time) == nil)
        partition.resume(Sample.other, at: time)
        let visit = partition.dueVisit(at: time)
        #expect(visit?.offset == 0 && visit?.keptBefore == 0)
    }

    @Test func `one kept visit that is put aside takes those of its account along that are due`() {
        var partition = partition()
        let (time, later) = (Sample.at(Self.minute), Sample.at(2 * Self.minute))
        for offset in 0..<6 as Range<Int64> {
            let account = offset == 2 ? Sample.other : Sample.account
            partition.append(Sample.record(offset, Sample.attest(0), account))
        }
        // 4 is kept for a time of its own, and 5 is the head.
        for offset in 0..<5 as Range<Int64> {
            partition.begin(offset)
            partition.end(offset, .kept(until: offset == 4 ? time.after(milliseconds: 9) : time))
        }
        partition.putAside(0, until: later, at: time)
        #expect(beginAll(&partition, at: time) == [2, 5])
        #expect(beginAll(&partition, at: later.after(milliseconds: -1)) == [4])
        #expect(partition.next == later && beginAll(&partition, at: later) == [0, 1, 3])
    }

    @Test func `of an account's due visits the one that was kept least often is named`() {
        var partition = partition()
        let time = Sample.at(Self.minute)
        partition.append(Sample.record(0, Sample.attest(0)))
        partition.append(Sample.record(1, Sample.attest(0, expires: Self.minute)))
        partition.append(Sample.record(2, Sample.attest(0)))
        partition.append(Sample.record(3, Sample.attest(0), Sample.other))
        for (offset, times) in [(0, 2), (1, 1), (2, 2)] as [(Int64, Int)] {
            for _ in 0..<times {
                partition.begin(offset)
                partition.end(offset, .kept(until: time))
            }
        }
        #expect(partition.leastKept(of: Sample.account, at: time)?.offset == 1)
        #expect(partition.leastKept(of: Sample.account, at: time.after(milliseconds: 1))?.offset == 0, "1 has expired")
        #expect(partition.leastKept(of: Sample.other, at: time)?.offset == 3, "the head")
        #expect(partition.leastKept(of: Sample.account, at: time.after(milliseconds: -1)) == nil)
    }

    @Test func `a visit whose receipt was refused does not resume with its account`() {
        for isRefused in [true, false] {
            var partition = filled(1)
            let (time, later) = (Sample.at(Self.minute), Sample.at(2 * Self.minute))
            partition.begin(0)
            partition.end(0, isRefused ? .refused(until: later) : .kept(until: later))
            partition.resume(Sample.account, at: time)
            #expect(partition.next == (isRefused ? later : time))
            let visit = partition.dueVisit(at: later)
            #expect(visit?.keptBefore == 1 && visit?.refusedBefore == (isRefused ? 1 : 0))
        }
    }

    @Test func `with 1,000 visits kept the head waits`() {
        var partition = partition()
        let time = Sample.at(Self.minute)
        for offset in 0..<Int64(LinePartition.mostKept + 1) {
            partition.append(Sample.record(offset, Sample.attest(0)))
            guard let visit = partition.dueVisit(at: time) else { break }
            partition.putAside(visit.offset, until: time.after(milliseconds: 77), at: time)
        }
        #expect(partition.unfinishedCount == LinePartition.mostKept)
        #expect(partition.next == time.after(milliseconds: 77))
        partition.resume(Sample.account, at: time)
        partition.begin(0)
        partition.end(0, .done)
        #expect(partition.position == 1)
        #expect(beginAll(&partition, at: time).count == LinePartition.mostKept)
    }

    @Test func `tombstones, other types and receipts that expire too early are passed at once`() {
        var first = partition(.first, from: 7)
        #expect(first.position == 7)
        first.append(Sample.record(7, nil))
        first.append(Sample.record(9, ReceiptDates(type: .receipt, createdAt: Sample.start)))
        first.append(Sample.record(10, Sample.attest(0, expires: Self.minute - 1)))
        #expect(first.position == 11 && first.next == nil && first.room == LinePartition.mostPrefetched)
        first.append(Sample.record(12, Sample.attest(0, expires: Self.minute)))
        first.append(Sample.record(13, nil))
        #expect(first.position == 12 && first.next == Sample.at(Self.minute))
    }

    @Test func `a receipt that has expired while it waited is passed`() {
        var partition = partition()
        partition.append(Sample.record(0, Sample.attest(0, expires: 2 * Self.minute)))
        partition.append(Sample.record(1, Sample.attest(0)))
        #expect(partition.dueVisit(at: Sample.at(2 * Self.minute))?.offset == 0)
        #expect(partition.dueVisit(at: Sample.at(2 * Self.minute + 1))?.offset == 1)
        #expect(partition.position == 1)
    }

    @Test func `64 records are read ahead of the head`() {
        var partition = filled(Int64(LinePartition.mostPrefetched))
        #expect(partition.room == 0)
        partition.begin(0)
        #expect(partition.room == 1)
    }

    @Test(.startsItself) func `a visit that was not begun does not end`() async {
        await #expect(processExitsWith: .failure) {
            var partition = LinePartition(.first, from: 0, settings: LineSettings())
            partition.append(Sample.record(0, Sample.attest(0)))
            partition.end(0, .done)
        }
    }

    @Test(arguments: UInt64(1)...20)
    func `whatever the order, the position is that of a list`(seed: UInt64) {
        var model = PartitionModel(seed: seed)
        model.run(steps: 2_000)
        #expect(model.differences == [])
    }
}
