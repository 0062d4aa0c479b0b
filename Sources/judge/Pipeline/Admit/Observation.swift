package import AppAttest
internal import AppCheck
internal import Crypto
internal import Streams

/// A record as Admit judged it, with the state that it met: for explanations, made outside of the pipeline.
package struct Observation: Sendable {
    package let record: DecodedRecord
    package let finding: Finding
    package let verdict: Verdict
    package let state: StateBefore
    /// Admit's own checks, up to the one that refused.
    package var checks: [TracedCheck] = []
}

package typealias Observer = @Sendable (Observation) -> Void

/// The part of the state that concerns one record, as it was before the record.
package struct StateBefore: Sendable {
    package internal(set) var key: KeyRecord?
    /// The last use of a key that has ended; nil where the ledger has forgotten it already.
    package internal(set) var endedUse: EvaluationTime?
    /// The record's own time included.
    package internal(set) var streamTime: EvaluationTime
    /// The earlier use of the request's challenge with its key.
    package internal(set) var challenge: ConsumedID?
    /// The earlier use of the request's token.
    package internal(set) var token: ConsumedID?
    package internal(set) var rememberedTokens: Int
    package internal(set) var attestationRate: RateCount?
    package internal(set) var challengeRate: RateCount?
    /// The ban of the key, or of the request's installation.
    package internal(set) var ban: Ban?
    /// The earlier use of an operator's command.
    package internal(set) var command: ConsumedID?
}

extension AdmitStage {
    /// The state that a record meets. Costs as much as admitting it.
    func state(before record: DecodedRecord, _ state: inout BatchState) -> StateBefore {
        let partition = record.record.partition
        var before = StateBefore(streamTime: state.streamTime(of: partition), rememberedTokens: 0)
        if let command = record.command { before.command = state.challenge(command.code, on: partition) }
        guard let request = record.request else { return before }
        before.ban = state.ban(of: request.keyID, record.installationID, on: partition)
        if let keyID = request.keyID {
            before.key = state.key(keyID, on: partition, forRequestOf: record.valueDigest)
            before.endedUse = state.ended?.use
            if let challenge = request.exchange?.challenge {
                before.challenge = state.challenge(
                    ChallengeConsumption.id(challenge: challenge, keyID: keyID),
                    on: partition
                )
            }
        }
        if case .project(let number) = request.resource, let claimed = request.unverifiedTokenID {
            before.token = state.token(Self.tokenID(project: number, claimed), on: partition)
            before.rememberedTokens = state.rememberedTokens(on: partition)
        }
        if let app = request.appIndex {
            before.attestationRate = state.rate(Gate.attestations.name(names[app]), on: partition)
            before.challengeRate = state.rate(Gate.challenges.name(names[app]), on: partition)
        }
        return before
    }
}
