package import AppAttest
package import AppCheck
package import Streams

/// Why keys are unknown: their attestations, earlier in the records looked at, were not accepted.
package struct EarlierRefusals: Sendable {
    package struct Refusal: Sendable, Equatable {
        package let place: RecordPlace
        package let reason: Reason

        /// The row in a report on a later record of the key.
        var comparison: Comparison {
            Comparison(
                "attestation",
                "refused: \(reason.code), record \(place.partition)/\(place.offset)",
                expected: "accepted before the key's first assertion"
            )
        }
    }

    private let most: Int
    private var refusals: [KeyID: Refusal] = [:]

    /// - Parameter most: keys that are remembered; a million of them take 100 MB. Later ones are not.
    package init(most: Int = 1 << 20) { self.most = most }

    /// The last one of a key that has no accepted attestation since.
    package subscript(keyID: KeyID) -> Refusal? { refusals[keyID] }

    package mutating func note(_ observation: Observation) {
        let record = observation.record
        guard let keyID = record.keyID, record.verb?.bringsAttestation == true else { return }
        switch observation.verdict.outcome {
        case .accepted: refusals[keyID] = nil
        case .refused(let reason, _), .deferred(let reason, _):
            guard observation.state.key == nil, refusals.count < most || refusals[keyID] != nil else { return }
            let place = RecordPlace(partition: record.record.partition, offset: record.record.offset)
            refusals[keyID] = Refusal(place: place, reason: reason)
        case .deadLetter, .applied: break
        }
    }
}
