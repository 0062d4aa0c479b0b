import KafkaPorts
import Testing

@Suite("The rules of a transaction")
struct TransactionGuardTests {
    /// What happened to the offsets of a transaction.
    enum OffsetsCase: CaseIterable, Sendable {
        case none, sent, refused, retriable, retriedAndSent, otherSentInstead, stillInCall

        var areMissing: Bool {
            switch self {
            case .none, .sent, .retriedAndSent: false
            default: true
            }
        }

        var areOpen: Bool { self == .retriable || self == .stillInCall }

        func apply(to transaction: inout TransactionGuard) {
            let (one, other) = (Self.offsets(7), Self.offsets(8))
            let (busy, refusal) = (KafkaFault(.coordinatorNotAvailable, "busy"), KafkaFault(.illegalGeneration, "old"))
            let calls: [(TransactionGuard.Offsets, KafkaFault?)] =
                switch self {
                case .none, .stillInCall: []
                case .sent: [(one, nil)]
                case .refused: [(one, refusal)]
                case .retriable: [(one, busy)]
                case .retriedAndSent: [(one, busy), (one, nil)]
                case .otherSentInstead: [(one, busy), (other, nil)]
                }
            for (offsets, fault) in calls {
                transaction.willSend(offsets)
                transaction.didSend(offsets, fault)
            }
            if self == .stillInCall { transaction.willSend(one) }
        }

        private static func offsets(_ offset: Int64) -> TransactionGuard.Offsets {
            TransactionGuard.Offsets(topic: "requests", offsets: [PartitionOffset(partition: 0, offset: offset)])
        }
    }

    /// Counts from before the transaction, which say nothing about it.
    private static let earlier: DeliverySummary = {
        var summary = DeliverySummary()
        (summary.acknowledged, summary.failed, summary.unsent, summary.withoutOffset) = (9, 5, 3, 2)
        return summary
    }()

    private static func grown(_ change: (inout DeliverySummary) -> Void) -> DeliverySummary {
        var summary = earlier
        summary.acknowledged += 4
        change(&summary)
        return summary
    }

    @Test(arguments: OffsetsCase.allCases)
    func `a commit is refused for whatever is not in the transaction, the client's fault first`(offsets: OffsetsCase) {
        let (fatal, refused, lost) = (KafkaFault(.fatal, "gone"), KafkaFault.invalid("refused"), "lost")
        for bits in 0..<16 {
            let (isFatal, isSpoiled, hasFailed, hasNoOffset) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0, bits & 8 > 0)
            var transaction = TransactionGuard()
            transaction.begin(Self.earlier)
            offsets.apply(to: &transaction)
            if isSpoiled { _ = transaction.spoil(refused) }
            let deliveries = Self.grown {
                if hasFailed { $0.failed += 1 }
                if hasNoOffset { $0.withoutOffset += 1 }
                if hasFailed || hasNoOffset { $0.firstFault = KafkaFault(.fenced, lost) }
            }
            let obstacle = transaction.commitObstacle(deliveries, fatal: isFatal ? fatal : nil)
            let expected: String? =
                isFatal
                ? "gone"
                : isSpoiled
                    ? "refused"
                    : hasFailed || hasNoOffset
                        ? lost : offsets.areMissing ? "the offsets of requests are not in the transaction" : nil
            #expect(obstacle?.message == expected)
            if let obstacle, !isFatal { #expect(obstacle.requiresAbort && !obstacle.isFatal) }
        }
    }

    @Test(arguments: OffsetsCase.allCases)
    func `an abort is safe once nothing can add to the transaction any more`(offsets: OffsetsCase) {
        for bits in 0..<32 {
            let (isOutstanding, isUnanswered, isUnsent) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)
            var transaction = TransactionGuard()
            transaction.begin(Self.earlier)
            offsets.apply(to: &transaction)
            var unanswered = UnansweredRequests()
            unanswered.additions = isUnanswered ? 1 : 0
            // These say nothing about what is added.
            (unanswered.ends, unanswered.inits) = (bits & 8 > 0 ? 1 : 0, bits & 16 > 0 ? 1 : 0)
            let deliveries = Self.grown {
                if isUnsent { ($0.failed, $0.unsent) = ($0.failed + 1, $0.unsent + 1) }
            }
            let settlement = transaction.settlement(deliveries, outstanding: isOutstanding ? 1 : 0, unanswered)
            let isOver = !isOutstanding && !isUnanswered
            #expect(settlement == (!isOver ? .underWay : isUnsent || offsets.areOpen ? .never : .settled))
        }
    }

    @Test func `the next transaction knows nothing of the last one`() {
        for offsets in OffsetsCase.allCases {
            var transaction = TransactionGuard()
            transaction.begin(DeliverySummary())
            offsets.apply(to: &transaction)
            _ = transaction.spoil(.stale("old"))
            transaction.begin(Self.earlier)
            var fresh = TransactionGuard()
            fresh.begin(Self.earlier)
            #expect(transaction == fresh)
            #expect(transaction.commitObstacle(Self.earlier, fatal: nil) == nil)
            #expect(transaction.settlement(Self.earlier, outstanding: 0, UnansweredRequests()) == .settled)
        }
    }

    @Test func `the first fault of a transaction is the one that is named`() {
        var transaction = TransactionGuard()
        transaction.begin(DeliverySummary())
        let first = transaction.spoil(.invalid("first"))
        #expect(first.requiresAbort && !first.isFatal)
        #expect(transaction.spoil(KafkaFault(.fenced, "second")).isFatal)
        #expect(transaction.commitObstacle(DeliverySummary(), fatal: nil) == first)
    }

    @Test func `a lost record keeps its fault's consequences, and has one of its own without a fault`() {
        var transaction = TransactionGuard()
        transaction.begin(Self.earlier)
        #expect(transaction.lostRecord(Self.grown { _ in }) == nil)
        let nameless = transaction.lostRecord(Self.grown { $0.failed += 1 })
        #expect(nameless?.message == "a record was not delivered" && nameless?.requiresAbort == true)
        let fenced = transaction.lostRecord(
            Self.grown { ($0.failed, $0.firstFault) = ($0.failed + 1, KafkaFault(.fenced, "fenced")) }
        )
        #expect(fenced?.isFatal == true && fenced?.requiresAbort == true)
    }

    @Test func `only additions and ends without an answer may be repeated into a later transaction`() {
        for bits in 0..<8 {
            var unanswered = UnansweredRequests()
            (unanswered.inits, unanswered.additions, unanswered.ends) = (bits & 1, bits >> 1 & 1, bits >> 2 & 1)
            #expect(unanswered.mayHaveRepeats == (bits > 1))
        }
    }
}
