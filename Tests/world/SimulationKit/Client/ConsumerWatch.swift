/// What the model sees of a member's promises: a partition that the member reads is not silent. Time counts where the
/// member polls; a sleeping process breaks no promise.
struct ConsumerWatch {
    private enum Intent { case paused, resumed, reading }

    /// Beyond a second without a record a leader's thread is not what sleeps.
    private static let mostSilence: Int64 = 5_000
    private static let mostFirstSilence: Int64 = 300
    private var intents: [Int32: Intent] = [:]
    private var silence: [Int32: Int64] = [:]
    private var first: Set<Int32> = []
    private var lastNothing: Int64 = 0

    /// What the application has resumed.
    var resumed: [Int32] { intents.filter { $0.value != .paused }.keys.sorted() }

    mutating func assigned(_ partitions: [Int32]) {
        // An application's pause survives.
        intents = intents.filter { partitions.contains($0.key) && $0.value == .paused }
        (silence, first) = ([:], [])
    }

    mutating func paused(_ partitions: [Int32]) {
        for partition in partitions {
            intents[partition] = .paused
            silence[partition] = nil
        }
    }

    mutating func resumed(_ partitions: [Int32]) {
        for partition in partitions {
            intents[partition] = .resumed
            silence[partition] = 0
            first.insert(partition)
        }
    }

    mutating func sought(_ partition: Int32) {
        silence[partition] = 0
        if intents[partition] == .resumed { intents[partition] = .reading }
    }

    /// The seek is served at some time: from then on the partition gives something.
    mutating func soughtLate(_ partition: Int32) { noteDelivery(partition) }

    mutating func noteDelivery(_ partition: Int32) {
        silence[partition] = 0
        first.remove(partition)
    }

    /// A poll gave nothing although some partition should.
    mutating func noteNothing(_ consumer: SimulatedConsumer) {
        let broker = consumer.broker
        let passed = min(broker.now - lastNothing, 50)
        lastNothing = broker.now
        guard consumer.due == nil, consumer.unanswered == nil, !consumer.steps.areStartsPending else { return }
        for (partition, intent) in intents.sorted(by: { $0.key < $1.key }) where intent != .paused {
            guard consumer.mayDeliver(partition) else { continue }
            silence[partition, default: 0] += passed
            let own = first.contains(partition) ? Self.mostFirstSilence : Self.mostSilence
            let most = consumer.process.mostSilence ?? own
            guard silence[partition, default: 0] > most else { continue }
            silence[partition] = 0
            consumer.process.violate("has a partition \(partition) that is silent for \(most) ms")
        }
    }
}
