package import AppAttest
package import AppCheck
package import Crypto

/// The settings that judge a batch: everything from the configuration, nothing that changes from record to record.
package struct PipelineSettings: Sendable {
    package var registry: Registry
    package var limits: RequestLimits
    /// The partition on which a record with this key must be; nil = not checked (replay, `unchecked`).
    package var partitionOfKey: (@Sendable (_ key: [UInt8]) -> Int32)?
    package var keys = KeySettings()
    /// Applied in live mode only.
    package var clock = ClockSettings()
    /// The App Check exchange; without keys its verbs are deferred.
    package var exchange = ExchangeSettings()

    /// The size limit of one output, key, value and headers together; a larger one loses its value. nil = no limit.
    package var maxRecordBytes: Int?
    /// Partitions of the replies topic; 0 = there is none, and every `reply-to` is ignored and counted. nil = `reply-to`
    /// says nothing (replay).
    package var replyPartitions: Int32?
    /// Whether there is a topic of receipts: a forgotten key's receipt is forgotten there.
    package var hasReceipts = false
    /// Whether lines of a capture that are not records are left out and counted, instead of ending the replay.
    package var skipsBadLines = false
    /// Whether requests keep their values, for explanations.
    package var keepsValues = false
    /// One ledger for all partitions: in replay, where a capture may come from anywhere.
    package var sharesLedger = false

    package init(
        registry: Registry,
        limits: RequestLimits = RequestLimits(),
        partitionOfKey: (@Sendable (_ key: [UInt8]) -> Int32)? = nil
    ) {
        (self.registry, self.limits, self.partitionOfKey) = (registry, limits, partitionOfKey)
    }

    /// The limits for the lanes' verifiers: a hash that Decode accepts is never malformed to them.
    package var objectLimits: ObjectLimits {
        var objectLimits = ObjectLimits()
        objectLimits.clientDataHashBytes = limits.clientDataHashBytes
        return objectLimits
    }

    package var requestDecoder: RequestDecoder {
        RequestDecoder(registry: registry, limits: limits, operatorKeys: OperatorKeys(exchange.keys))
    }

    /// The number of the ledger that has a partition's keys.
    package func ledgerPartition(_ partition: Int32) -> Int32 { sharesLedger ? 0 : partition }

    /// Whether a key that the ledger has lost may be restored from an artifact on the record's partition: only if the
    /// key certainly is on no other.
    package var mayRestoreKeys: Bool { partitionOfKey != nil || sharesLedger }
}

/// Bounds of a record's age against the wall clock, in milliseconds.
package struct ClockSettings: Sendable, Equatable {
    package var maxAgeMilliseconds: Int64 = 345_600_000
    package var maxAheadMilliseconds: Int64 = 300_000

    package init() {}
}

package struct ChallengeSettings: Sendable, Equatable {
    /// Who judges challenges: the worker that sealed them, or the gateway that made them.
    package enum Mode: String, Sendable, CaseIterable { case sealed, external }

    package var mode = Mode.sealed
    /// The time from a challenge's issue to its expiry.
    package var ttlMilliseconds: Int64 = 300_000

    package init() {}
}

/// The App Check exchange's keys and rules.
package struct ExchangeSettings: Sendable {
    package var keys: KeyRings
    package var challenges = ChallengeSettings()
    /// Partitions of the requests topic, which share an app's attestations per second; 0 = no rate is applied (replay).
    package var partitions = 0
    /// Whether tokens, artifacts and challenges are made; false in a replay that only judges.
    package var mints = true
    /// Signs the tokens.
    package var signer = TokenSigner()
    /// Unpredictable bytes; nil = derived from the record's place (replay).
    package var randomBytes: (@Sendable (_ count: Int) -> [UInt8])?

    package init(keys: KeyRings = KeyRings()) { self.keys = keys }

    /// Whether a token may take as long as another holder of its key takes.
    package var signsElsewhere: Bool { mints && keys.tokens.signsElsewhere }
}
