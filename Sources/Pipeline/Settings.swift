package import AppAttest
package import AppCheck

/// What a batch is judged by: everything that comes from the configuration, nothing that changes from record to record.
package struct PipelineSettings: Sendable {
    package var registry: Registry
    package var limits: RequestLimits
    /// The partition on which a record with this key must lie; nil = not checked (replay, `unchecked`).
    package var partitionOfKey: (@Sendable (_ key: [UInt8]) -> Int32)?
    /// Bounds of a record's time against the wall clock, in milliseconds; applied in live mode only.
    package var maxAge: Int64
    package var maxAhead: Int64

    /// Key, value and headers of one output together; what is larger loses its value. nil = no limit.
    package var maxRecordBytes: Int?
    /// One ledger for all partitions: in replay, where a capture may come from anywhere.
    package var sharesLedger = false

    package init(
        registry: Registry,
        limits: RequestLimits = RequestLimits(),
        partitionOfKey: (@Sendable (_ key: [UInt8]) -> Int32)? = nil,
        maxAge: Int64 = 96 * 3_600_000,
        maxAhead: Int64 = 5 * 60_000
    ) {
        self.registry = registry
        self.limits = limits
        self.partitionOfKey = partitionOfKey
        self.maxAge = maxAge
        self.maxAhead = maxAhead
    }

    /// What the lanes' verifiers are made with: a hash that Decode lets through is never malformed to them.
    package var objectLimits: ObjectLimits {
        var objectLimits = ObjectLimits()
        objectLimits.clientDataHashBytes = limits.clientDataHashBytes
        return objectLimits
    }

    /// The number of the ledger that a partition's keys live in.
    package func ledgerPartition(_ partition: Int32) -> Int32 { sharesLedger ? 0 : partition }
}
