internal import BrokerKit
internal import Streams

/// What lies in the topics before a run's own requests.
struct ChaosBefore {
    /// Where the output topics' partitions end, by the topic's name without prefix.
    var ends: [String: [Int32: Int64]] = [:]
    /// Counters by key ID.
    var keys: [String: Int64] = [:]

    func has(_ record: InboundRecord, of name: String) -> Bool {
        record.offset < ends[name]?[record.partition] ?? 0
    }
}

extension ChaosRun {
    private static let outputs = ["results", "dead-letters", "tokens", "events"]

    /// Other devices' requests are answered; in the middle of them the ledger is deleted and created again, and after them
    /// the topic of requests. Each time the workers must hold, and the runbook repairs it. No worker runs afterwards.
    ///
    /// Not both at once: a group without offsets and a ledger without records are a first start.
    func recreateTopics() throws {
        let keys = "\(workplace.folder)/keys.ndjson"
        try crew.start()
        try publishOthers(seed: ~settings.seed)
        try awaitAnswers()
        _ = try crew.leave(tick)
        try workplace.done("export-keys", "--output", keys)
        say("the ledger is created again")
        try person.recreate("ledger", crew, tick) { try publishOthers(seed: ~settings.seed ^ 1) }
        try person.retrying(tick) { try workplace.done("import-keys", "--input", keys) }
        try person.reset(to: "--to-committed", tick)
        try crew.come()
        try awaitAnswers()
        _ = try crew.leave(tick)
        try note()
        say("\(before.keys.count) keys; the topic of requests is created again")
        try person.recreate("requests", crew, tick) {
            producer.allow(settings.requests / 20)
            try startTraffic()
            try wait(or: "no request was sent") { producer.status.acknowledged >= settings.requests / 20 }
        }
        try person.reset(to: "--to-beginning", tick)
    }

    private func note() throws {
        before.keys = try ChaosReader.counters(workplace.done("export-keys").output)
        for name in Self.outputs {
            before.ends[name] = try workplace.ends(of: workplace.topic(name)).mapValues(\.committed)
        }
    }

    private func publishOthers(seed: UInt64) throws {
        try workplace.publish(max(300, settings.requests / 20), seed: seed, faultShare: settings.faultShare)
    }

    private func awaitAnswers() throws {
        let watch = workplace.drainWatch()
        try wait(or: "requests before the run's own are not answered", until: watch.isDrained)
    }
}

extension ChaosOperator {
    /// Deletes a topic and creates it again while no worker runs.
    ///
    /// - Parameter begin: publishes requests that workers must not answer before a repair.
    func recreate(_ name: String, _ crew: ChaosCrew, _ tick: () throws -> Void, begin: () throws -> Void) throws {
        try cluster.deleteTopic(workplace.topic(name))
        // A deletion takes a moment.
        try retrying(tick) { try workplace.createTopics([name]) }
        let before = try outcomes()
        try begin()
        try letHold("\(name) created again", before, crew, tick)
    }

    /// Moves the group's offsets, as soon as the group is empty; the keys stay.
    func reset(to position: String, _ tick: () throws -> Void) throws {
        try retrying(tick) { try workplace.done("reset", "--offsets-only", position, "--yes", seconds: 600) }
    }
}
