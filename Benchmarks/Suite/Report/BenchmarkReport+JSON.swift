internal import JSON

extension BenchmarkReport {
    /// The figures for tools: one object and a newline. Names stay; new ones may be added.
    var json: String {
        var json = JSONWriter()
        json.beginObject()
        json.key("schema")
        json.value(1)
        write(machine, &json)
        if let date {
            json.key("date")
            json.string(date)
        }
        json.key("rows")
        json.beginArray()
        for group in groups {
            for row in group.rows { write(row, of: group.id.rawValue, &json) }
        }
        for cost in tokens { write(cost, &json) }
        for result in stages.results { write(whole: result, &json) }
        json.endArray()
        json.key("stages")
        json.beginArray()
        for result in stages.results { write(stagesOf: result, &json) }
        json.endArray()
        json.endObject()
        return String(decoding: json.takeBytes(), as: UTF8.self) + "\n"
    }

    private func write(_ machine: Machine, _ json: inout JSONWriter) {
        json.key("machine")
        json.beginObject()
        json.key("processor")
        json.string(machine.processor)
        json.key("vpmadd52PerCycle")
        json.raw(Self.number(machine.vpmadd52PerCycle, 2))
        json.key("cores")
        json.value(machine.cores)
        json.key("openSSL")
        json.string(machine.openSSL)
        json.endObject()
    }

    private func write(_ row: Measurement, of group: String, _ json: inout JSONWriter) {
        begin(group, row.name, row.baseline, &json)
        if let engine = row.engine {
            json.key("engine")
            json.string(engine)
        }
        if let batch = row.batch {
            json.key("batch")
            json.value(batch)
        }
        json.key("lanes")
        json.value(row.lanes)
        end(row.perSecond, row.microseconds, row.ratio, &json)
    }

    /// Rates here too: the ratio is the token's to the bare signature's.
    private func write(_ cost: TokenCost, _ json: inout JSONWriter) {
        begin("tokens", cost.name, "the bare signature", &json)
        end(1e6 / cost.minted, cost.minted, cost.ratio.inverse, &json)
    }

    private func write(whole result: StageReport.Result, _ json: inout JSONWriter) {
        begin("withoutSignatures", result.shape.rawValue, "OpenSSL P-256 verify, bare", &json)
        let seconds = result.whole.seconds
        end(1 / seconds, seconds * 1e6, result.shareOfVerification.inverse, &json)
    }

    private func begin(_ group: String, _ name: String, _ baseline: String, _ json: inout JSONWriter) {
        json.beginObject()
        json.key("group")
        json.string(group)
        json.key("name")
        json.string(name)
        json.key("baseline")
        json.string(baseline)
    }

    private func end(_ perSecond: Double, _ microseconds: Double, _ ratio: Spread, _ json: inout JSONWriter) {
        json.key("recordsPerSecond")
        json.raw(Self.number(perSecond, 1))
        json.key("microsecondsOfACore")
        json.raw(Self.number(microseconds, 3))
        json.key("ratio")
        json.raw(Self.number(ratio.median, 4))
        json.key("ratioLow")
        json.raw(Self.number(ratio.low, 4))
        json.key("ratioHigh")
        json.raw(Self.number(ratio.high, 4))
        json.endObject()
    }

    private func write(stagesOf result: StageReport.Result, _ json: inout JSONWriter) {
        for (name, cost) in result.figures {
            json.beginObject()
            json.key("shape")
            json.string(result.shape.rawValue)
            json.key("stage")
            json.string(name)
            json.key("microsecondsOfACore")
            json.raw(Self.number(cost.seconds * 1e6, 3))
            if StageReport.counts {
                json.key("allocations")
                json.raw(Self.number(cost.allocations, 2))
                json.key("bytes")
                json.raw(Self.number(cost.bytes, 0))
            }
            json.endObject()
        }
    }

    private static func number(_ value: Double, _ places: Int) -> [UInt8] {
        Array((value.isFinite ? Benchmarks.rounded(value, places) : "null").utf8)
    }
}

extension Spread {
    /// Of the inverse ratios.
    var inverse: Spread { Spread(median: 1 / median, low: 1 / high, high: 1 / low) }

    private init(median: Double, low: Double, high: Double) {
        (self.median, self.low, self.high) = (median, low, high)
    }
}
