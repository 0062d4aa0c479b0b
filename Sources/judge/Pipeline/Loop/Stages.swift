internal import AppCheck

/// The stages of one configuration.
struct Stages {
    let decode: DecodeStage
    let verify: VerifyStage
    let admit: AdmitStage
    let encode: EncodeStage
    let settings: PipelineSettings
    /// The places in the tally of the registry's apps.
    let places: [Int32]

    init(settings: PipelineSettings, options: BatchLoop.Options, places: [Int32]) {
        (self.settings, self.places) = (settings, places)
        decode = DecodeStage(settings: settings)
        verify = VerifyStage(settings: settings)
        encode = EncodeStage(settings: settings)
        admit = AdmitStage(settings: settings)
    }
}

/// Artifacts were sealed under keys that the configuration lacks: their devices could never be served again.
package struct MissingSealingKeys: Error, Equatable, Sendable, CustomStringConvertible {
    /// The ids as written in artifacts: the first four bytes of SHA-256 over the key's id in worker.json.
    package let ids: [UInt32]

    package init(ids: [UInt32]) { self.ids = ids }

    package var description: String {
        let names = ids.map { id in
            (0..<8).map { String(id >> UInt32(28 - 4 * $0) & 15, radix: 16) }.joined()
        }
        return "artifacts were sealed under keys that are missing (SHA-256 of their ids begins with "
            + names.joined(separator: ", ") + "): put them back into sealingKeys of worker.json"
    }
}

extension BatchLoop {
    /// The keys that the ledgers here use and the settings lack; nil = none.
    ///
    /// - Parameter partition: one that has just become whole; half-read ledgers do not count.
    func missingSealingKeys(in settings: PipelineSettings, before partition: Int32? = nil) -> MissingSealingKeys? {
        let known = Set(settings.exchange.keys.sealing.keys.map(\.id.value))
        let halfRead = Set(
            assignment.restoration?.waiting.filter { $0 != partition }.map(settings.ledgerPartition) ?? []
        )
        let used = ledgers.reduce(into: Set<UInt32>()) { used, entry in
            if !halfRead.contains(entry.key) { used.formUnion(entry.value.sealingKeys.keys) }
        }
        let missing = used.subtracting(known).sorted()
        return missing.isEmpty ? nil : MissingSealingKeys(ids: missing)
    }
}
