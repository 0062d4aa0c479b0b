internal import JSON
internal import Pipeline
internal import Settings

/// `/status`: the worker for people, JSON. Its members may change from version to version; metrics are for programs.
enum StatusReport {
    static func write(_ monitor: WorkerMonitor) -> [UInt8] { write(monitor, monitor.snapshot()) }

    static func write(_ monitor: WorkerMonitor, _ snapshot: WorkerSnapshot) -> [UInt8] {
        let (rates, tally) = (monitor.requestRates, snapshot.tally)
        var json = JSONWriter(capacity: 4096)
        json.beginObject()
        text("state", snapshot.state.rawValue, &json)
        text("reason", snapshot.reason, &json)
        json.add(troubles: snapshot.troubles)
        text("group", monitor.group, &json)
        text("version", snapshot.build.version, &json)
        text("startedAt", TimeText.rfc3339(Int64(snapshot.process.startTime * 1000)), &json)
        text("configurationLoadedAt", TimeText.rfc3339(snapshot.reloadedAt), &json)
        number("requests", tally.requests, &json)
        number("accepted", tally.accepted, &json)
        number("refused", tally.refusedTotal, &json)
        number("deferred", tally.deferred, &json)
        number("deadLetters", tally.deadLettersTotal, &json)
        number("commits", tally.batches, &json)
        number("aborts", tally.aborts, &json)
        real("requestsPerSecond10s", rates.tenSeconds, &json)
        real("requestsPerSecond1m", rates.minute, &json)
        number("lag", snapshot.partitions.reduce(0) { $0 + Int(snapshot.lag($1.number) ?? 0) }, &json)
        if let fault = monitor.lastFault {
            json.key("lastFault")
            json.beginObject()
            text("at", TimeText.rfc3339(fault.at), &json)
            text("message", fault.sentence, &json)
            json.endObject()
        }
        json.key("apps")
        json.beginArray()
        for app in snapshot.appNames {
            json.beginObject()
            text("app", app.id, &json)
            text("name", app.name, &json)
            json.endObject()
        }
        json.endArray()
        json.key("held")
        json.beginArray()
        for partition in snapshot.partitions where partition.hold != nil { json.value(partition.number) }
        json.endArray()
        json.key("partitions")
        json.beginArray()
        for partition in snapshot.partitions { write(partition, snapshot, &json) }
        json.endArray()
        json.endObject()
        return json.takeBytes()
    }

    private static func write(_ partition: LoopSnapshot.Partition, _ snapshot: WorkerSnapshot, _ json: inout JSONWriter)
    {
        json.beginObject()
        number("partition", Int(partition.number), &json)
        if let offset = snapshot.committed(partition.number) { number("committedOffset", Int(offset), &json) }
        if let lag = snapshot.lag(partition.number) { number("lag", Int(lag), &json) }
        if let ends = snapshot.brokers.ends[partition.number] { number("unstable", Int(ends.unstable), &json) }
        text("streamTime", partition.streamTime.map(TimeText.rfc3339), &json)
        number("keys", partition.keys, &json)
        text("hold", partition.hold, &json)
        json.endObject()
    }

    private static func text(_ name: String, _ value: String?, _ json: inout JSONWriter) {
        guard let value else { return }
        json.key(named: name)
        json.string(value)
    }

    private static func number(_ name: String, _ value: Int, _ json: inout JSONWriter) {
        json.key(named: name)
        json.value(value)
    }

    /// Writes a number with one decimal.
    private static func real(_ name: String, _ value: Double, _ json: inout JSONWriter) {
        json.key(named: name)
        json.raw(Array("\((value * 10).rounded() / 10)".utf8))
    }
}
