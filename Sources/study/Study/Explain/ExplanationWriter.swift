package import AppAttest
internal import AppCheck
internal import CommandFrame
package import JSON
internal import Pipeline
internal import Settings
internal import Streams
internal import Threads

/// `replay --explain`: a line of JSON for each record that was not accepted. The loop's thread owns it until
/// the loop has ended.
final class ExplanationWriter: @unchecked Sendable {
    private static let bufferBytes = 64 << 10

    private let explainer: Explainer
    private let file: OutputFile
    private var owner = Owner("ExplanationWriter")
    private var buffer: [UInt8] = []
    private var fault: (any Error)?

    init(_ path: String, explainer: Explainer) throws(CommandFault) {
        self.explainer = explainer
        file = try OutputFile(path, .whole)
    }

    var observer: Observer {
        { observation in self.note(observation) }
    }

    private func note(_ observation: Observation) {
        owner.check()
        explainer.note(observation)
        guard !observation.verdict.isAccepted, fault == nil else { return }
        buffer += explainer.explain(observation).line
        if buffer.count >= Self.bufferBytes { flush() }
    }

    private func flush() {
        do { try file.write(buffer) } catch { fault = error }
        buffer.removeAll(keepingCapacity: true)
    }

    /// - Throws: the first fault of writing.
    func close() throws {
        flush()
        if let fault { throw fault }
        try file.close()
    }
}

extension Explanation {
    /// One line of `replay --explain`. No token, artifact or challenge is in it.
    var line: [UInt8] {
        var json = JSONWriter(capacity: 1024)
        json.beginObject()
        writeRequest(into: &json)
        let environment = device?.environment ?? key?.environment
        for (name, text) in [
            ("platform", device?.platform), ("osVersion", device?.osVersion), ("bundleVersion", device?.bundleVersion),
            ("environment", environment.map { ExactText($0.rawValue) }), ("appleAppId", device?.appID),
        ] {
            guard let text else { continue }
            json.key(named: name)
            json.string(validUTF8: text.utf8)
        }
        if let category = device?.validationCategory ?? key?.validationCategory {
            json.member("validationCategory", category)
        }
        json.key("values")
        ExplanationJSON.write(comparisons, into: &json)
        ExplanationJSON.write(reading, into: &json)
        json.endObject()
        // It may go to standard output.
        return VisibleJSON.of(json.bytes) + [0x0A]
    }

    /// The record's place, what it asks for, and its verdict.
    func writeRequest(into json: inout JSONWriter) {
        json.member("topic", record.record.topic)
        json.member("partition", record.record.partition)
        json.member("offset", record.record.offset)
        json.member("timestamp", record.record.timestamp)
        json.member("requestId", validUTF8: record.requestID.utf8)
        for (name, text) in [("app", app), ("verb", verb?.rawValue), ("keyId", keyID?.base64)] {
            json.key(named: name)
            if let text { json.string(text) } else { json.null() }
        }
        json.member("verdict", verdict)
        if let reason { json.member("reason", reason) }
        if let attestation { write(attestation, into: &json) }
    }

    private func write(_ attestation: EarlierRefusals.Refusal, into json: inout JSONWriter) {
        json.key("attestation")
        json.beginObject()
        json.member("reason", attestation.reason.code)
        json.member("partition", attestation.place.partition)
        json.member("offset", attestation.place.offset)
        json.endObject()
    }
}

package enum ExplanationJSON {
    /// A list of objects: name, presented, expected.
    package static func write(_ comparisons: [Comparison], into json: inout JSONWriter) {
        json.beginArray()
        for comparison in comparisons {
            json.beginObject()
            json.member("name", comparison.name)
            json.key("presented")
            write(comparison.presented, into: &json)
            json.key("expected")
            write(comparison.expected, into: &json)
            json.endObject()
        }
        json.endArray()
    }

    /// A member `reading`, where one fits.
    package static func write(_ reading: FittingReading?, into json: inout JSONWriter) {
        guard let reading else { return }
        json.key("reading")
        json.beginObject()
        json.member("name", reading.name)
        json.member("sentence", reading.sentence)
        json.endObject()
    }

    static func write(_ value: ReportValue, into json: inout JSONWriter) {
        if case .number(let number) = value { json.value(number) } else { json.string(value.description) }
    }

    static func write(_ fields: [ReportField], into json: inout JSONWriter) {
        json.beginObject()
        for field in fields {
            json.key(named: field.name)
            write(field.value, into: &json)
        }
        json.endObject()
    }
}
