internal import BrokerKit
internal import Pipeline
internal import Threads

/// A frame that is kept, and what it waits for.
struct ProxyHold {
    let bytes: [UInt8]
    let release: NetworkFault.Release
    /// Of its transactional id, when it was taken.
    let ends: Int
}

extension ProxyLoop {
    func obey(_ order: NetworkProxy.Order) {
        let now = ContinuousClock.now
        switch order {
        case .plan(let number, let fault): faults.append((number, fault))
        case .forget(let number): faults.removeAll { number ?? $0.number == $0.number }
        case .weather(let weather, let broker):
            for index in routes.indices where broker ?? index + 1 == index + 1 { self.weather[index] = weather }
        case .deliver(let number):
            let index = shared.withLock { $0.events.held.firstIndex { $0.fault == number && $0.state == .held } }
            if let index { deliver(index, nil, now) }
        case .cutAll: for connection in connections { connection.close() }
        }
    }

    /// A client's request, whole.
    func request(
        _ frame: [UInt8],
        _ head: RequestHead,
        on connection: ProxyConnection,
        _ now: ContinuousClock.Instant
    ) {
        if let id = head.transactionalID { connection.transactionalID = id }
        guard let index = faults.firstIndex(where: { $0.fault.key == head.key }) else {
            return pass(frame, head, .pass, on: connection, now)
        }
        guard faults[index].fault.skips == 0 else {
            faults[index].fault.skips -= 1
            return pass(frame, head, .pass, on: connection, now)
        }
        let (number, fault) = faults.remove(at: index)
        shared.withLock { _ = $0.events.done.insert(number) }
        act(fault.action, number, frame, head, on: connection, now)
    }

    private func act(
        _ action: NetworkFault.Action,
        _ number: Int,
        _ frame: [UInt8],
        _ head: RequestHead,
        on connection: ProxyConnection,
        _ now: ContinuousClock.Instant
    ) {
        switch action {
        case .hold(let release):
            hold(frame, head, release, number, connection.route)
            connection.cutClient()
        case .cutBefore: connection.cutClient()
        case .cutBeforeAnswer: pass(frame, head, .cutBefore, on: connection, now)
        case .cutBehindAnswer: pass(frame, head, .cutBehind, on: connection, now)
        case .delay(let time): pass(frame, head, .pass, on: connection, now + time)
        case .delayAnswer(let time): pass(frame, head, .delay(time), on: connection, now)
        case .swallow: break
        case .swallowAnswer: pass(frame, head, .swallow, on: connection, now)
        }
    }

    private func pass(
        _ frame: [UInt8],
        _ head: RequestHead,
        _ fault: ProxyConnection.AnswerFault,
        on connection: ProxyConnection,
        _ due: ContinuousClock.Instant
    ) {
        connection.awaited[head.correlationID] = .init(head: head, fault: fault)
        connection.up.add(frame, due: due)
        // So that nothing overtakes the late frame that this request's answer releases.
        if let id = head.transactionalID, !waitingHolds(behind: head).isEmpty { stop(id, ContinuousClock.now) }
    }

    /// Stops everything that a producer sends from now on.
    private func stop(_ id: [UInt8], _ now: ContinuousClock.Instant) {
        for connection in connections where connection.transactionalID == id {
            connection.up.close(until: now + LateDelivery.timeBudget)
        }
    }

    private func hold(
        _ frame: [UInt8],
        _ head: RequestHead,
        _ release: NetworkFault.Release,
        _ number: Int,
        _ route: Int
    ) {
        let ends = head.transactionalID.map { transactions.ends(of: $0) } ?? 0
        holds.append(ProxyHold(bytes: frame, release: release, ends: ends))
        shared.withLock { $0.events.held.append(HeldFrame(fault: number, head: head, broker: route + 1)) }
    }

    /// A broker's answer, whole.
    func answer(_ frame: [UInt8], on connection: ProxyConnection, _ now: ContinuousClock.Instant) {
        var reader = FrameReader(frame, from: 4)
        guard let id = reader.int32(), let awaited = connection.awaited.removeValue(forKey: id) else {
            return connection.close()
        }
        transactions.noteAnswer(awaited.head)
        releaseLate(behind: awaited.head, now)
        guard connection.client.isOpen else { return }
        switch awaited.fault {
        case .pass: connection.down.add(frame, due: now)
        case .cutBefore: connection.cutClient()
        case .cutBehind:
            connection.down.add(frame, due: now)
            connection.endsBehindAnswers = true
        case .delay(let time): connection.down.add(frame, due: now + time)
        case .swallow: break
        }
    }

    /// Lets go what waited for this answer of a later transaction.
    private func releaseLate(behind head: RequestHead, _ now: ContinuousClock.Instant) {
        for index in waitingHolds(behind: head) { deliver(index, head.transactionalID, now) }
    }

    /// The held frames that a request of a later transaction releases, by their place.
    private func waitingHolds(behind head: RequestHead) -> [Int] {
        guard let id = head.transactionalID, !holds.isEmpty else { return [] }
        let ends = transactions.ends(of: id)
        let held = shared.withLock { $0.events.held }
        return holds.indices.filter { index in
            held[index].state == .held && holds[index].release == .behindNext(head.key)
                && held[index].head.transactionalID == id && ends > holds[index].ends
        }
    }

    /// - Parameter waiting: the transactional id whose next requests wait until the late frame is answered.
    private func deliver(_ index: Int, _ waiting: [UInt8]?, _ now: ContinuousClock.Instant) {
        let frame = shared.withLock { $0.events.held[index] }
        let isLater = frame.head.transactionalID.map { id in
            transactions.isOpen(id) && transactions.ends(of: id) > holds[index].ends
        }
        do {
            let port = routes[frame.broker - 1].broker
            deliveries.append(try LateDelivery(index, holds[index].bytes, to: port, waiting: waiting, now: now))
        } catch {
            return shared.withLock { $0.events.held[index].state = .failed }
        }
        shared.withLock { shared in
            shared.events.held[index].state = .underway
            shared.events.held[index].metLaterTransaction = isLater ?? false
        }
        if let waiting { stop(waiting, now) }
    }

    /// - Parameter answer: with its length; nil = no answer.
    func finish(_ delivery: LateDelivery, _ answer: [UInt8]?) {
        deliveries.removeAll { $0 === delivery }
        let state = answer.map { HeldFrame.State.answered(Array($0.dropFirst(4).prefix(128))) } ?? .failed
        shared.withLock { $0.events.held[delivery.index].state = state }
        guard let id = delivery.waiting, !deliveries.contains(where: { $0.waiting == id }) else { return }
        for connection in connections where connection.transactionalID == id { connection.up.open() }
    }
}
