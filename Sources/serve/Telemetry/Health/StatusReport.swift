internal import JSON
internal import KafkaPorts
internal import Pipeline
internal import Settings

/// `/status`: the worker for people, JSON. Its members may change from version to version; metrics are for programs.
enum StatusReport {
    static func write(_ monitor: WorkerMonitor, _ snapshot: WorkerSnapshot) -> [UInt8] {
        let (rates, tally) = (monitor.requestRates, snapshot.tally)
        var json = JSONWriter(capacity: 4096)
        json.beginObject()
        json.member("state", snapshot.state.rawValue)
        if let reason = snapshot.reason { json.member("reason", reason) }
        if !snapshot.troubles.isEmpty { json.list("troubles", of: snapshot.troubles) { $0.string($1) } }
        if let group = monitor.group { json.member("group", group) }
        json.member("version", snapshot.build.version)
        json.member("startedAt", TimeText.rfc3339(Int64(snapshot.process.startTime * 1000)))
        json.member("configurationLoadedAt", TimeText.rfc3339(snapshot.reloadedAt))
        json.member("requests", tally.requests)
        json.member("accepted", tally.accepted)
        json.member("refused", tally.refusedTotal)
        json.member("deferred", tally.deferred)
        json.member("deadLetters", tally.deadLettersTotal)
        json.member("commits", tally.batches)
        json.member("aborts", tally.aborts)
        real("requestsPerSecond10s", rates.tenSeconds, &json)
        real("requestsPerSecond1m", rates.minute, &json)
        let lag = snapshot.partitions.reduce(0) { $0 + Int(snapshot.lag($1.number) ?? 0) }
        json.member("lag", lag)
        if let fault = monitor.lastFault {
            json.key("lastFault")
            json.beginObject()
            json.member("at", TimeText.rfc3339(fault.at))
            json.member("message", fault.sentence)
            json.endObject()
        }
        json.list("apps", of: snapshot.appNames) { json, app in
            json.beginObject()
            json.member("app", app.id)
            json.member("name", app.name)
            json.endObject()
        }
        json.list("held", of: snapshot.partitions.filter { $0.hold != nil }) { $0.value($1.number) }
        if !snapshot.standby.isEmpty {
            json.list("standby", of: snapshot.standby.sorted { $0.key < $1.key }) { json, part in
                json.beginObject()
                json.member("partition", part.key)
                json.member("lag", part.value)
                json.endObject()
            }
        }
        json.list("partitions", of: snapshot.partitions) { write($1, snapshot, &$0) }
        json.endObject()
        return json.takeBytes()
    }

    private static func write(_ partition: LoopSnapshot.Partition, _ snapshot: WorkerSnapshot, _ json: inout JSONWriter)
    {
        json.beginObject()
        json.member("partition", partition.number)
        if let offset = snapshot.committed(partition.number) { json.member("committedOffset", offset) }
        if let lag = snapshot.lag(partition.number) { json.member("lag", lag) }
        if let ends = snapshot.brokers.ends[partition.number] { json.member("unstable", ends.unstable) }
        if let time = partition.streamTime { json.member("streamTime", TimeText.rfc3339(time)) }
        json.member("keys", partition.keys)
        if let copy = snapshot.copies[partition.number] {
            json.member("copyTakenAt", TimeText.rfc3339(copy.takenAt))
            json.member("copyBytes", copy.bytes)
        }
        if let hold = partition.hold { json.member("hold", hold) }
        json.endObject()
    }

    /// Writes a number with one decimal.
    private static func real(_ name: StaticString, _ value: Double, _ json: inout JSONWriter) {
        json.key(name)
        json.raw(Array("\((value * 10).rounded() / 10)".utf8))
    }
}
