internal import Settings

/// The calls that wait for answers, found by the whole id and the record's key. A value behind a lock; what it returns is
/// sent outside of it.
struct WaitingCalls {
    typealias Ticket = UInt

    private let mostCalls: Int
    private let mostBytes: Int
    private var calls: [Ticket: WaitingCall] = [:]
    /// A proxy that tries again sends an id a second time: both wait for the same answer.
    private var tickets: [[UInt8]: [Ticket]] = [:]
    /// The calls in the order of their deadlines, since all wait equally long; those that ended are skipped.
    private var order = ArraySlice<Ticket>()
    private var lastTicket: Ticket = 0
    private(set) var byteCount = 0

    init(_ settings: GatewaySettings) {
        (mostCalls, mostBytes) = (settings.waitingCalls, settings.waitingBytes)
    }

    var count: Int { calls.count }

    /// Each id that is waited for has a call, each call its place in the order, and its bytes are counted.
    private var isWhole: Bool {
        tickets.count <= calls.count && calls.count <= order.count && byteCount >= calls.count
            && (byteCount == 0) == calls.isEmpty
    }

    /// Whether another call with so many bytes may wait.
    func hasRoom(for bytes: Int) -> Bool { calls.count < mostCalls && byteCount + bytes <= mostBytes }

    /// Whether a call with this id waits for an answer to another request: answers must not be mixed up.
    func holds(_ id: [UInt8], otherThan value: [UInt8]) -> Bool {
        tickets[id]?.contains { calls[$0].map { $0.value != value } ?? false } ?? false
    }

    mutating func add(_ call: WaitingCall) -> Ticket {
        // Zero means no report.
        lastTicket = lastTicket == .max ? 1 : lastTicket + 1
        precondition(calls[lastTicket] == nil, "a ticket names one call: a reply goes to no other")
        calls[lastTicket] = call
        tickets[call.id, default: []].append(lastTicket)
        order.append(lastTicket)
        byteCount += call.byteCount
        assert(isWhole && lastTicket != 0)
        return lastTicket
    }

    mutating func remove(_ ticket: Ticket) -> WaitingCall? {
        guard let call = calls.removeValue(forKey: ticket) else { return nil }
        tickets[call.id]?.removeAll { $0 == ticket }
        if tickets[call.id]?.isEmpty == true { tickets[call.id] = nil }
        byteCount -= call.byteCount
        assert(isWhole && calls[ticket] == nil, "a call is answered once")
        return call
    }

    /// Whether an id is waited for at all.
    func isAwaited(_ id: [UInt8]) -> Bool { tickets[id] != nil }

    /// The calls that a record with this id, key and place answers.
    func awaiting(_ id: [UInt8], _ key: [UInt8]?, _ partition: Int32?) -> [Ticket] {
        (tickets[id] ?? []).filter { ticket in
            guard let call = calls[ticket] else { return false }
            return call.key == key && (partition == nil || call.partition == partition)
        }
    }

    subscript(ticket: Ticket) -> WaitingCall? {
        get { calls[ticket] }
        set {
            guard let old = calls[ticket], let newValue else { return }
            assert(old.id == newValue.id && old.byteCount == newValue.byteCount, "a call keeps its name and its bytes")
            calls[ticket] = newValue
        }
    }

    /// Takes out the calls whose deadline has passed.
    mutating func expire(at now: Int64) -> [WaitingCall] {
        var expired: [WaitingCall] = []
        while let ticket = order.first, calls[ticket].map({ $0.deadline <= now }) ?? true {
            if let call = remove(ticket) { expired.append(call) }
            order.removeFirst()
        }
        assert(isWhole && expired.allSatisfy { $0.deadline <= now })
        return expired
    }

    mutating func removeAll() -> [WaitingCall] {
        let all = order.compactMap { calls[$0] }
        (calls, tickets, order, byteCount) = ([:], [:], [], 0)
        assert(isWhole)
        return all
    }
}
