internal import KafkaPorts

/// Our place in the group: one drawn state, and what belongs to it.
///
///     joining ─▶ answering ─▶ asking topics ─▶ taking over ─▶ asking offsets ─▶ owning
///        ▲                        ▲ taken over again: from every state after it   │
///        │ given back             └───────────────────────────────────────────────┘
///        ├────────── leaving ◀── revoked, lost: from every state but expelled
///        └ joined ── expelled ◀─ consumer replaced: from every state
struct Membership {
    enum State: CaseIterable {
        /// Nothing is assigned.
        case joining
        /// The group does not have our answer yet.
        case answering
        /// Whether the topics still have as many partitions.
        case askingTopics
        /// Ends what a predecessor left open under our name first: it would hold back the offsets and the ledger's end.
        case takingOver
        case askingOffsets
        /// The loop knows the partitions, and starts those whose offset is known. With the token, the broker rejects commits of an earlier assignment.
        case owning
        /// The loop may still commit under the last token, and then gives the partitions back.
        case leaving
        /// The consumer is new, and joins once the loop has let the old one's partitions go.
        case expelled
    }

    enum Event: CaseIterable {
        case assigned, answered, topicsKnown, tookOver, offsetsKnown, takenOverAgain, gone, expelled, released
    }

    private(set) var state = State.joining
    /// The membership under which batches are polled; kept while the loop may commit under it.
    var token: (any MemberToken)?
    /// Counts the announcements of partitions to the loop.
    private(set) var generation = 0
    /// Another member may own the partitions already.
    private(set) var isLost = false
    /// The partition counts of the topics, as the brokers last said.
    var counts: [String: Int32] = [:]
    /// The question that is under way.
    var query: QueryID?
    var pause = RetryPause()
    var offsets = OffsetQuestions()

    static func cell(_ state: State, _ event: Event) -> Cell<State> {
        switch (event, state) {
        case (.expelled, _): .becomes(.expelled)
        case (.released, .leaving), (.released, .expelled): .becomes(.joining)
        case (.released, _): .impossible
        // What comes before our answer to the last change is given back with the rest.
        case (.assigned, .leaving), (.assigned, .expelled): .ignored
        case (.assigned, _): .becomes(.answering)
        case (.gone, .expelled): .ignored
        case (.gone, _): .becomes(.leaving)
        case (.answered, .answering): .becomes(.askingTopics)
        case (.topicsKnown, .askingTopics): .becomes(.takingOver)
        case (.tookOver, .takingOver): .becomes(.askingOffsets)
        case (.offsetsKnown, .askingOffsets): .becomes(.owning)
        case (.takenOverAgain, .askingTopics), (.takenOverAgain, .takingOver), (.takenOverAgain, .askingOffsets),
            (.takenOverAgain, .owning):
            .becomes(.askingTopics)
        case (.takenOverAgain, _): .ignored
        default: .impossible
        }
    }

    mutating func take(_ event: Event) {
        switch Self.cell(state, event) {
        case .ignored: break
        case .impossible: preconditionFailure("the membership is \(state): \(event) comes only in other states")
        case .becomes(let next): enter(next)
        }
    }

    private mutating func enter(_ next: State) {
        precondition(query == nil, "a question is answered or forgotten first")
        precondition(next != .owning || token != nil && !isLost, "partitions are owned under a token that counts")
        state = next
        pause = RetryPause()
        switch next {
        case .owning: generation += 1
        case .joining: (token, isLost) = (nil, false)
        case .answering: isLost = false
        case .askingOffsets: offsets = OffsetQuestions()
        default: break
        }
        assert(next != .joining || token == nil, "a token outlives no membership")
    }

    mutating func noteLost() { isLost = true }

    /// Whether the group has an assignment of ours that the loop does not know yet.
    var isArriving: Bool {
        switch state {
        case .answering, .askingTopics, .takingOver, .askingOffsets: true
        case .joining, .owning, .leaving, .expelled: false
        }
    }

    /// Whether the partitions are left to their next owner.
    var isLeaving: Bool { state == .leaving || state == .expelled }
}
