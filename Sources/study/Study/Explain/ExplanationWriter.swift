package import AppAttest
internal import AppCheck
internal import CommandFrame
internal import Pipeline
package import Reports
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

    var observer: Observer { { self.note($0) } }

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
        func text(_ text: ExactText?) -> Facts? { text.map { .text($0.shown) } }
        let environment = device?.environment ?? key?.environment
        let category = device?.validationCategory ?? key?.validationCategory
        let rest: [Facts.Member] = [
            ("platform", text(device?.platform)), ("osVersion", text(device?.osVersion)),
            ("bundleVersion", text(device?.bundleVersion)), ("environment", environment.map { .text($0.rawValue) }),
            ("appleAppId", text(device?.appID)), ("validationCategory", category.map { .count($0) }),
            ("values", comparisons.facts), ("reading", reading?.facts),
        ]
        // It may go to standard output.
        return VisibleJSON.of(Facts.object(request + rest).json) + [0x0A]
    }

    /// The record's place, what it asks for, and its verdict.
    var request: [Facts.Member] {
        let inbound = record.record
        let earlier = attestation.map { attestation -> Facts in
            [
                "reason": .text(attestation.reason.code), "partition": .count(attestation.place.partition),
                "offset": .count(attestation.place.offset),
            ]
        }
        return [
            ("topic", .text(inbound.topic)), ("partition", .count(inbound.partition)),
            ("offset", .count(inbound.offset)), ("timestamp", .count(inbound.timestamp)),
            ("requestId", .text(record.requestID.shown)), ("app", .textOrNull(app)),
            ("verb", .textOrNull(verb?.rawValue)), ("keyId", .textOrNull(keyID?.base64)), ("verdict", .text(verdict)),
            ("reason", reason.map { .text($0) }), ("attestation", earlier),
        ]
    }
}

extension ReportValue {
    fileprivate var facts: Facts { if case .number(let number) = self { .count(number) } else { .text(description) } }
}

extension [ReportField] {
    /// An object with a member for each field.
    package var facts: Facts { .object(map { ($0.name, $0.value.facts) }) }
}

extension [Comparison] {
    /// A list of objects: name, presented, expected.
    package var facts: Facts {
        .list(map { ["name": .text($0.name), "presented": $0.presented.facts, "expected": $0.expected.facts] })
    }
}

extension FittingReading {
    package var facts: Facts { ["name": .text(name), "sentence": .text(sentence)] }
}
