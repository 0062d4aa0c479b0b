package import BrokerKit
internal import DeviceLab

/// The fate of the held frames of one key.
package struct LateFrames: Sendable, CustomStringConvertible {
    package let key: APIKey
    package var held = 0
    /// Answered by a broker when they came late.
    package var delivered = 0
    /// Of these, while a later transaction of the same transactional id was open.
    package var metLaterTransaction = 0
    /// How many a broker took as if they were in time; EndTxn and AddOffsetsToTxn only, whose answers are read.
    package var taken = 0

    package var description: String {
        "  \(key): \(held) held, \(delivered) delivered late, \(metLaterTransaction) of them in a later transaction"
            + (key == .endTransaction || key == .addOffsetsToTransaction ? ", \(taken) taken" : "")
    }
}

/// The network of a run and its faults. For one thread at a time.
final class ChaosNetwork {
    private let network: NetworkProxy
    /// When the bad weather ends.
    private var clears: ContinuousClock.Instant?

    /// Requests that a worker cannot do without.
    private static let important: [APIKey] =
        APIKey.transactional + [.produce, .fetch, .heartbeat, .initProducerID, .offsetFetch]
    private static let lateFramesPerFault: UInt64 = 3

    init(_ network: NetworkProxy) { self.network = network }

    /// No bad weather lasts.
    var isClear: Bool { clears == nil }

    /// Injects a fault. - Returns: a description; nil while a slow network lasts.
    func apply(_ planned: PlannedFault) -> String? {
        guard clears == nil else { return nil }
        var random = SeededRandom(seed: planned.target)
        if let key = planned.fault.lateKey { return hold(key, &random) }
        let key = Self.important[Int(random.next() % UInt64(Self.important.count))]
        let broker = 1 + Int(random.next() % UInt64(network.routes.count))
        let length = Duration.seconds(0.5 + 7.5 * planned.length)
        switch planned.fault {
        case .cutBefore: return plan(.cutBefore, key)
        case .cutBeforeAnswer: return plan(.cutBeforeAnswer, key)
        case .cutBehindAnswer: return plan(.cutBehindAnswer, key)
        case .cutAll:
            network.cutAll()
            return "every connection is cut"
        case .delayed: return plan(random.next() % 2 == 0 ? .delay(length) : .delayAnswer(length), key)
        case .swallowed: return plan(random.next() % 2 == 0 ? .swallow : .swallowAnswer, key)
        case .throttled:
            return weather(.throttled(bytesPerSecond: 20_000 + Int(random.next() % 300_000)), broker, length)
        case .requestsOnly: return weather(.requestsOnly, broker, length)
        case .answersOnly: return weather(.answersOnly, broker, length)
        default: return weather(.blackHole, broker, length)
        }
    }

    /// Nothing passes, for up to three times as long as a call waits. - Returns: nil while a slow network lasts.
    func cutOff(_ planned: PlannedFault) -> String? {
        guard clears == nil else { return nil }
        let length = Duration.seconds(1 + Double(3 * ChaosGates.deadlineSeconds) * planned.length)
        network.set(.blackHole)
        clears = .now + length
        return "the first gateway is cut off for \(length.text)"
    }

    /// Some requests of the key, a few apart, arrive late: after the next transaction's first records or offsets.
    private func hold(_ key: APIKey, _ random: inout SeededRandom) -> String {
        for _ in 0..<Self.lateFramesPerFault {
            let isBehindOffsets = random.next() % 3 == 0
            var fault = NetworkFault(.hold(.behindNext(isBehindOffsets ? .transactionOffsetCommit : .produce)), key)
            fault.skips = Int(random.next() % 6)
            network.plan(fault)
        }
        return "\(Self.lateFramesPerFault) × \(key) will be late"
    }

    private func plan(_ action: NetworkFault.Action, _ key: APIKey) -> String {
        network.plan(NetworkFault(action, key))
        return "\(action) \(key)"
    }

    private func weather(_ weather: NetworkWeather, _ broker: Int, _ length: Duration) -> String {
        network.set(weather, broker: broker)
        clears = .now + length
        let rate = weather.bytesPerSecond.map { "\($0) B/s" } ?? "requests \(weather.stopsRequests ? "stop" : "pass")"
        return "broker \(broker): \(rate), answers \(weather.stopsAnswers ? "stop" : "pass"), for \(length.text)"
    }

    /// - Returns: whether a fault came to its end.
    func tick() -> Bool {
        guard let clears, ContinuousClock.now >= clears else { return false }
        network.set(.clear)
        self.clears = nil
        return true
    }

    /// Ends all faults; frames that are still held, because their producer has no later transaction, arrive now.
    func clear() {
        network.forget()
        network.set(.clear)
        clears = nil
        for frame in network.events.held where frame.state == .held { network.deliver(frame.fault) }
    }

    var late: [LateFrames] {
        let held = network.events.held
        return APIKey.transactional.map { key in
            var late = LateFrames(key: key)
            for frame in held where frame.head.key == key {
                late.held += 1
                guard frame.answer != nil else { continue }
                late.delivered += 1
                if frame.metLaterTransaction { late.metLaterTransaction += 1 }
                if frame.errorCode == 0 { late.taken += 1 }
            }
            return late
        }
    }
}
