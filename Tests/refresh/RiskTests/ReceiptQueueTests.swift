internal import AppAttest
internal import DeviceLab
internal import RiskKit
internal import TestKit
internal import Testing

@testable internal import Risk

@Suite("A line's receipts of one partition")
struct ReceiptQueueTests {
    private static let minute = Milliseconds.minute

    private static func queue(_ line: ReceiptLine = .first, most: Int = 64) -> ReceiptQueue {
        let pair = LinePair(line: line, partition: 0)
        return ReceiptQueue(pair, assignment: 1, settings: LineSettings(), mostEntries: most)
    }

    private static func receipt(
        _ dates: ReceiptDates = Sample.attest(0),
        _ account: CallAccount = Sample.account
    ) throws -> (held: HeldReceipt, account: CallAccount) {
        let record = FakeReceipts.record(SimulatedReceipt(key: 2, dates: dates), offset: 0)
        let held = try HeldReceipt(record, for: .again, apps: [FakeReceipts.app], judge: FakeReceipts())
        return (held, account)
    }

    /// A queue whose receipts were created a second apart.
    private static func filled(_ count: Int64) throws -> ReceiptQueue {
        var queue = queue()
        for offset in 0..<count { queue.append(offset, try receipt(Sample.attest(offset * 1_000))) }
        return queue
    }

    @Test func `a receipt has five calls over 18 minutes, others go on meanwhile, then it is skipped`() throws {
        var queue = try Self.filled(2)
        var time = Sample.due
        for pause in [2, 20, 180, 900] as [Int64] {
            queue.begin(try present(queue.due(at: time)).offset)
            #expect(queue.fail(0, at: time) == false)
            let next = time.after(milliseconds: pause * 1_000)
            #expect(queue.due(at: next.after(milliseconds: -1))?.offset != 0 && queue.position == 0)
            time = next
        }
        #expect(queue.beginAll(at: time) == [0, 1])
        #expect(queue.oldestDue == Sample.due, "what waits has been due since")
        #expect(queue.fail(0, at: time) == true && queue.position == 1)
        // What nobody waits for any more changes nothing.
        #expect(queue.fail(0, at: time) == false)
        queue.end(0)
        queue.wait(0, until: time)
        #expect(queue.position == 1)
    }

    @Test func `an account that is held lets others go, and is released with what had its turn`() throws {
        var queue = Self.queue()
        queue.append(0, try Self.receipt(Sample.attest(0), Sample.other))
        queue.append(1, try Self.receipt())
        queue.append(2, try Self.receipt(Sample.attest(Self.minute), Sample.other))
        queue.hold(Sample.other, until: Sample.at(90 * Self.minute), at: Sample.due)
        #expect(queue.beginAll(at: Sample.due) == [1])
        #expect(queue.wake == Sample.at(2 * Self.minute), "what is not due yet is not held")
        queue.release(Sample.account, at: Sample.due)
        #expect(queue.due(at: Sample.due) == nil)
        queue.release(Sample.other, at: Sample.due)
        #expect(queue.leastFailed(of: Sample.other, at: Sample.due)?.offset == 0)
        #expect(queue.leastFailed(of: Sample.account, at: Sample.due) == nil)
        #expect(queue.beginAll(at: Sample.due) == [0], "and not released before it is due")
        #expect(queue.beginAll(at: Sample.at(2 * Self.minute)) == [2])
    }

    @Test func `a receipt that is not due yet holds the later ones, those that had their turn go on`() throws {
        var queue = Self.queue()
        for (offset, age) in [(0, 0), (1, 90), (2, 0)] as [(Int64, Int64)] {
            queue.append(offset, try Self.receipt(Sample.attest(age * 1_000)))
        }
        #expect(queue.beginAll(at: Sample.due) == [0])
        #expect(queue.wake == Sample.at(Self.minute + 90_000))
        #expect(queue.fail(0, at: Sample.due) == false && queue.wake == Sample.due.after(milliseconds: 2_000))
        #expect(queue.beginAll(at: Sample.due.after(milliseconds: 2_000)) == [0])
        #expect(queue.beginAll(at: Sample.at(Self.minute + 90_000)) == [1, 2])
    }

    @Test func `tombstones, other types and receipts that expire too early are passed at once`() throws {
        var queue = Self.queue(.again)
        #expect(queue.position == 0)
        queue.append(7, nil)
        var dates = Sample.attest(0)
        dates.notBefore = Sample.at(100 * Milliseconds.day)
        queue.append(10, try Self.receipt(dates))
        #expect(queue.position == 11 && queue.wake == .never)
        queue.append(12, try Self.receipt())
        queue.append(13, nil)
        #expect(queue.position == 12 && queue.wake == Sample.at(7 * Milliseconds.day))
    }

    @Test func `a receipt that has expired while it waited is passed`() throws {
        var queue = try Self.filled(2)
        let end = Sample.at(90 * Milliseconds.day)
        #expect(queue.due(at: end)?.offset == 0)
        #expect(queue.due(at: end.after(milliseconds: 1))?.offset == 1 && queue.position == 1)
    }

    @Test func `a number of receipts, and a span of offsets, are the room`() throws {
        var queue = Self.queue(most: 4)
        for offset in 0..<4 as Range<Int64> {
            #expect(queue.hasRoom)
            queue.append(offset, try Self.receipt())
        }
        #expect(!queue.hasRoom && !queue.isHalfFree)
        _ = queue.beginAll(at: Sample.due)
        queue.end(1)
        #expect(queue.hasRoom && !queue.isHalfFree)
        queue.end(2)
        #expect(queue.isHalfFree)
        queue.append(ReceiptQueue.mostSpan - 1, nil)
        #expect(!queue.hasRoom && !queue.isHalfFree)
        queue.end(0)
        #expect(queue.hasRoom && !queue.isHalfFree)
        queue.end(3)
        #expect(queue.isHalfFree && queue.position == ReceiptQueue.mostSpan)
    }

    @Test(.startsItself) func `a call begins once`() async {
        await #expect(processExitsWith: .failure) {
            var queue = try ReceiptQueueTests.filled(1)
            queue.begin(0)
            queue.begin(0)
        }
    }

    /// A queue beside plain sets, under random steps.
    @Test(arguments: UInt64(1)...20)
    func `whatever the order, position and next call are those of a list`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var (queue, now, next) = (Self.queue(), Sample.start, Int64(0))
        /// By offset: when it may be called for; nil = a call is under way.
        var model: [Int64: EvaluationTime?] = [:]
        for step in 0..<2_000 {
            let open = model.filter { $0.value == nil }.keys.sorted()
            switch random.next() % 8 {
            case 0...2:
                guard queue.hasRoom else { continue }
                next += Int64(random.next() % 3)
                let isReceipt = random.next() % 4 != 0
                queue.append(next, isReceipt ? try Self.receipt(ReceiptDates(type: .attest, createdAt: now)) : nil)
                if isReceipt { model[next] = now.after(milliseconds: Self.minute) }
                next += 1
            case 3...4:
                let entry = queue.due(at: now)
                #expect(entry?.offset == model.filter { $0.value.map { $0 <= now } ?? false }.keys.min())
                if let offset = entry?.offset {
                    queue.begin(offset)
                    model[offset] = .some(nil)
                }
            case 5...6:
                guard let offset = open.randomElement(using: &random) else { continue }
                if random.next() % 3 == 0 {
                    let until = now.after(milliseconds: Int64(random.next() % 100_000))
                    queue.wait(offset, until: until)
                    model[offset] = until
                } else {
                    queue.end(offset)
                    model[offset] = nil
                }
            default: now = now.after(milliseconds: Int64(random.next() % 20_000))
            }
            #expect(queue.position == model.keys.min() ?? next, "step \(step)")
            #expect(queue.wake == model.values.compactMap(\.self).min() ?? .never, "step \(step)")
        }
    }
}

extension ReceiptQueue {
    /// Begins all calls that may begin.
    fileprivate mutating func beginAll(at time: EvaluationTime) -> [Int64] {
        var begun: [Int64] = []
        while let entry = due(at: time) {
            begin(entry.offset)
            begun.append(entry.offset)
        }
        return begun
    }
}
