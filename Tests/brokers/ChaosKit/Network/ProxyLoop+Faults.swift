internal import BrokerKit
internal import Threads

extension ProxyLoop {
    /// A client's request, whole.
    func request(
        _ frame: [UInt8],
        _ head: RequestHead,
        on connection: ProxyConnection,
        _ now: ContinuousClock.Instant
    ) {
        if let id = head.transactionalID { connection.transactionalID = id }
        guard let index = faults.firstIndex(where: { $0.fault.key == head.key }) else {
            return pass(frame, head, on: connection, now)
        }
        guard faults[index].fault.skips == 0 else {
            faults[index].fault.skips -= 1
            return pass(frame, head, on: connection, now)
        }
        let (number, fault) = faults.remove(at: index)
        shared.withLock { _ = $0.events.done.insert(number) }
        switch fault.action {
        case .hold(let release):
            var held = HeldFrame(fault: number, head: head, broker: connection.route + 1)
            (held.bytes, held.release) = (frame, release)
            if let id = head.transactionalID { held.ends = transactions.ends(of: id) }
            shared.withLock { $0.events.held.append(held) }
            connection.cutClient()
        case .cutBefore: connection.cutClient()
        case .swallow: break
        case .delay(let time): pass(frame, head, on: connection, now + time)
        case .cutBeforeAnswer, .cutBehindAnswer, .delayAnswer, .swallowAnswer:
            pass(frame, head, fault.action, on: connection, now)
        }
    }

    /// - Parameter fault: of the answer.
    private func pass(
        _ frame: [UInt8],
        _ head: RequestHead,
        _ fault: NetworkFault.Action? = nil,
        on connection: ProxyConnection,
        _ due: ContinuousClock.Instant
    ) {
        connection.awaited[head.correlationID] = (head, fault)
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

    /// A broker's answer, whole.
    func answer(_ frame: [UInt8], on connection: ProxyConnection, _ now: ContinuousClock.Instant) {
        var reader = FrameReader(frame, from: 4)
        guard let id = reader.int32(), let (head, fault) = connection.awaited.removeValue(forKey: id) else {
            return connection.close()
        }
        transactions.noteAnswer(head)
        // What waited for this answer of a later transaction is let go.
        for index in waitingHolds(behind: head) { deliver(index, head.transactionalID, now) }
        guard connection.client.isOpen else { return }
        switch fault {
        case .cutBeforeAnswer?: connection.cutClient()
        case .swallowAnswer?: break
        case .delayAnswer(let time)?: connection.down.add(frame, due: now + time)
        default:
            connection.down.add(frame, due: now)
            if fault == .cutBehindAnswer { connection.endsBehindAnswers = true }
        }
    }

    /// The held frames that a request of a later transaction releases, by their place.
    private func waitingHolds(behind head: RequestHead) -> [Int] {
        guard let id = head.transactionalID else { return [] }
        let ends = transactions.ends(of: id)
        let held = shared.withLock { $0.events.held }
        return held.indices.filter { index in
            held[index].state == .held && held[index].release == .behindNext(head.key)
                && held[index].head.transactionalID == id && ends > held[index].ends
        }
    }

    /// Delivers a frame that is still held, by the number of its fault.
    func deliver(fault number: Int) {
        let index = shared.withLock { $0.events.held.firstIndex { $0.fault == number && $0.state == .held } }
        if let index { deliver(index, nil, .now) }
    }

    /// - Parameter waiting: the transactional id whose next requests wait until the late frame is answered.
    private func deliver(_ index: Int, _ waiting: [UInt8]?, _ now: ContinuousClock.Instant) {
        let frame = shared.withLock { $0.events.held[index] }
        let isLater = frame.head.transactionalID.map { id in
            transactions.isOpen(id) && transactions.ends(of: id) > frame.ends
        }
        guard let socket = LoopbackSocket.connecting(to: routes[frame.broker - 1].broker) else {
            return shared.withLock { $0.events.held[index].state = .failed }
        }
        deliveries.append(LateDelivery(index, frame.bytes, on: socket, waiting: waiting, now: now))
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
