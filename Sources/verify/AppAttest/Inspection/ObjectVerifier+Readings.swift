internal import CBOR
package import Crypto

/// An object beside the arguments that it is judged by: what a reading changes.
package struct InspectedInput: Sendable {
    package var kind: ObjectReport.Kind
    package var object: [UInt8]
    package var arguments: InspectionArguments

    package init(_ kind: ObjectReport.Kind, _ object: [UInt8], _ arguments: InspectionArguments) {
        (self.kind, self.object, self.arguments) = (kind, object, arguments)
    }
}

extension ObjectVerifier {
    /// Whether one check passes where the object is judged again; others may fail.
    ///
    /// Of an attestation no signature is verified again: a check of its content failed, so that its chain holds.
    package func passes(
        _ check: String,
        _ input: InspectedInput,
        at time: EvaluationTime,
        engine: any SignatureEngine
    ) -> Bool {
        let (object, arguments) = (input.object, input.arguments)
        let (hash, trace) = (arguments.clientDataHash, CheckTrace(showsPassed: false))
        switch input.kind {
        case .attestation:
            let data = (try? AttestationObject(object.span, limits: limits))?.authenticatorData
            let expectations = arguments.expectations(data, object)
            _ = prepareAttestation(object, hash, arguments.keyID, expectations, at: time, trace)
        case .assertion:
            let data = (try? AssertionObject(object.span, limits: limits))?.authenticatorData
            guard let key = arguments.key, let hash else {
                _ = parts(of: object, hash, trace)
                break
            }
            let prepared = prepareAssertion(object, hash, key, arguments.expectations(data, object), trace)
            if check == "signature" { _ = prepared.verified(by: engine) }
        case .receipt: break
        }
        return trace.checks.contains { $0.name == check && $0.outcome == .passed }
    }
}

/// A byte string inside an object, which a client may have encoded once more.
package enum ObjectPart: Sendable {
    case signature, authenticatorData

    /// - Returns: nil where the object cannot be read so far.
    package func bytes(of input: InspectedInput) -> [UInt8]? {
        range(in: input).map { input.object.span.array($0) }
    }

    /// The same object with other bytes in this part; nil where it cannot be read so far.
    package func replaced(by bytes: [UInt8], in input: InspectedInput) -> InspectedInput? {
        guard let range = range(in: input) else { return nil }
        var changed = input
        // The object is strict CBOR: a length has its shortest form.
        let old = Self.written(input.object.span.array(range))
        changed.object.replaceSubrange((range.upperBound - old.count)..<range.upperBound, with: Self.written(bytes))
        return changed
    }

    private func range(in input: InspectedInput) -> Range<Int>? {
        let bytes = input.object.span
        switch (self, input.kind) {
        case (.authenticatorData, .attestation):
            return (try? AttestationObject(bytes, limits: .default))?.authenticatorData
        case (.authenticatorData, .assertion):
            return (try? AssertionObject(bytes, limits: .default))?.authenticatorData
        case (.signature, .assertion): return (try? AssertionObject(bytes, limits: .default))?.signature
        case (.signature, .attestation), (_, .receipt): return nil
        }
    }

    /// A byte string with its head.
    private static func written(_ bytes: [UInt8]) -> [UInt8] {
        var writer = CBORWriter()
        writer.bytes(bytes)
        return writer.bytes
    }
}
