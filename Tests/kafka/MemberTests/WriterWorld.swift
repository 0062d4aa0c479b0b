import DeviceLab
import KafkaPorts
import Streams

@testable import Member

/// A coordinator and its logs: one transactional id with its epochs, one open transaction, late copies of its ends.
final class WriterWorld {
    var random: SeededRandom
    /// The next one that takes the id over has a greater one.
    private(set) var epoch = 0
    private(set) var isOpen = false
    private var pending: [OutboundRecord] = []
    private var pendingOffset: Int64?
    /// What readers of committed records see.
    private(set) var visible: [Int] = []
    private(set) var marks: [Int] = []
    private(set) var committed: Int64 = 0
    private(set) var ledgerEnd: Int64 = 0
    private var lostCommit: Int?
    private var late: [(epoch: Int, isCommit: Bool)] = []
    private(set) var complaints: [String] = []
    private(set) var counts: [String: Int] = [:]
    /// Of the output under way.
    var budget: CallBudget?
    /// The assignment is another member's.
    var isLost = false
    var now = Moment(milliseconds: 0)

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    func complain(_ text: String) { complaints.append(text) }

    func note(_ event: String) { counts[event, default: 0] += 1 }

    /// Whether a fault of this share happens now.
    func happens(_ share: Double, _ event: String) -> Bool {
        guard Double(random.next() >> 11) * 0x1p-53 < share else { return false }
        note(event)
        return true
    }

    func below(_ count: Int) -> Int { Int(random.next() >> 33) % max(1, count) }

    // MARK: - The coordinator

    func takeOver() -> Int {
        if lostCommit == epoch, happens(0.5, "a lost commit arrived in time") { _ = end(epoch, isCommit: true) }
        (isOpen, pending, pendingOffset) = (false, [], nil)
        epoch += 1
        return epoch
    }

    /// A transaction that took too long.
    func expire() {
        guard isOpen, happens(0.01, "a transaction expired") else { return }
        _ = takeOver()
    }

    func add(_ record: OutboundRecord, _ epoch: Int) -> Bool {
        guard epoch == self.epoch else { return false }
        (isOpen, pending) = (true, pending + [record])
        return true
    }

    func addOffset(_ offset: Int64, _ epoch: Int) -> Bool {
        guard epoch == self.epoch else { return false }
        if isLost { complain("offsets were sent after the assignment was lost") }
        (isOpen, pendingOffset) = (true, offset)
        return true
    }

    /// Returns whether the producer has the present epoch; an end without a transaction is answered as done.
    func end(_ epoch: Int, isCommit: Bool) -> Bool {
        guard epoch == self.epoch else { return false }
        guard isOpen else { return true }
        if isCommit {
            for record in pending { append(record) }
            committed = max(committed, pendingOffset ?? 0)
        }
        (isOpen, pending, pendingOffset) = (false, [], nil)
        return true
    }

    /// It may arrive until its epoch is over.
    func loseCommit(_ epoch: Int) { lostCommit = epoch }

    func leaveCopy(_ epoch: Int, isCommit: Bool) {
        late.append((epoch, isCommit))
    }

    /// What does most harm: right behind a later transaction's first record.
    func deliverLateCopies() {
        for copy in late {
            note(end(copy.epoch, isCommit: copy.isCommit) ? "a late copy took effect" : "a late copy was refused")
        }
        late = []
    }

    /// The broker has refused a record of which the library says that it was taken.
    func drop(_ record: OutboundRecord) {
        if let index = pending.lastIndex(of: record) { pending.remove(at: index) }
    }

    // MARK: - Logs

    func append(_ record: OutboundRecord) {
        let number = Int(record.sourceOffset)
        guard record.stream == .ledger else { return visible.append(number) }
        guard number >= 0 else { return note("a mark was taken back") }
        if !visible.contains(number) { complain("the ledger knows \(number), which has no answer") }
        marks.append(number)
    }

    func nextLedgerOffset() -> Int64 {
        ledgerEnd += 1
        return ledgerEnd - 1
    }

    func cutLedger() { ledgerEnd = 0 }

    func commitOffset(_ offset: Int64) { committed = max(committed, offset) }
}
