internal import AppCheck
internal import Threads

/// New settings on their way in: all loops of the process take them, or none does.
///
///     none ── offered ──▶ offered ── judged ──▶ judged ── all can take them ──▶ due ── taken ──▶ none
///                            └── withdrawn ─────────┴──▶ none
enum NextSettings: DrawnState {
    case none
    /// Not judged yet.
    case offered(PipelineSettings, judged: @Sendable (MissingSealingKeys?) -> Void)
    /// The other loops judge as well.
    case judged(PipelineSettings)
    /// The settings of the next batch.
    case due(PipelineSettings, taken: @Sendable () -> Void)

    func mayBecome(_ next: NextSettings) -> Bool {
        switch (self, next) {
        case (.none, .offered), (.offered, .judged), (.judged, .due), (.due, .none): true
        case (.offered, .none), (.judged, .none): true
        // The operator changed the files again.
        case (.offered, .offered), (.judged, .offered), (.due, .offered): true
        default: false
        }
    }
}

extension BatchLoop {
    /// Uses other settings from the next batch on; for a process with one loop.
    ///
    /// - Parameter taken: called once they are in use (nil), or with the keys that they lack, if the old ones stay.
    package func replace(_ settings: PipelineSettings, taken: @escaping @Sendable (MissingSealingKeys?) -> Void) {
        offer(settings) { missing in
            if missing != nil { self.withdraw() } else { self.take(settings) { taken(nil) } }
            if let missing { taken(missing) }
        }
    }

    /// Asks whether settings can be taken; the work goes on meanwhile.
    ///
    /// - Parameter judged: called with the sealing keys that the ledgers here use and the settings lack; nil = none.
    package func offer(_ settings: PipelineSettings, judged: @escaping @Sendable (MissingSealingKeys?) -> Void) {
        owner.check()
        nextSettings = .offered(settings, judged: judged)
    }

    /// Takes the settings that were judged, from the next batch on.
    package func take(_ settings: PipelineSettings, taken: @escaping @Sendable () -> Void) {
        owner.check()
        nextSettings = .due(settings, taken: taken)
    }

    /// Keeps the old settings.
    package func withdraw() {
        owner.check()
        if case .none = nextSettings { return }
        nextSettings = .none
    }

    /// Judges or takes new settings once it may.
    ///
    /// - Throws: if a partition came with keys that settings lack which every loop had judged to be fit: as in a restore.
    func reload() throws -> Bool {
        guard mayReload else { return false }
        switch nextSettings {
        case .none, .judged: return false
        case .offered(let offered, let judged):
            guard inFlight.isEmpty || !waitsForSettings else { return false }
            nextSettings = .judged(offered)
            judged(missingSealingKeys(in: offered))
        case .due(let next, let taken):
            guard inFlight.isEmpty else { return false }
            precondition(writing.batch == nil, "no batch is judged by two settings")
            nextSettings = .none
            if let missing = missingSealingKeys(in: next) { throw missing }
            stages = Stages(settings: next, options: options, places: tally.answers.places(of: next.registry))
            assert(!waitsForSettings, "settings that are taken wait for nothing")
            taken()
        }
        return true
    }

    /// Only whole ledgers show which sealing keys are in use, so settings without one of the present keys wait for a restore.
    /// Others must not: a signing key may be revoked, and the partitions that have started sign by it.
    private var mayReload: Bool {
        guard assignment.restoration != nil else { return true }
        switch nextSettings {
        case .none: return false
        case .offered(let next, _), .judged(let next), .due(let next, _):
            let kept = Set(next.exchange.keys.sealing.keys.map(\.id))
            return settings.exchange.keys.sealing.keys.allSatisfy { kept.contains($0.id) }
        }
    }

    /// Whether no batch may start before new settings are decided: they are due, or lack the key that seals artifacts
    /// now, which the next batch might be the first to use.
    var waitsForSettings: Bool {
        guard mayReload else { return false }
        switch nextSettings {
        case .none: return false
        case .due: return true
        case .offered(let next, _), .judged(let next):
            guard let active = settings.exchange.keys.sealing.active?.id else { return false }
            return !next.exchange.keys.sealing.keys.contains { $0.id == active }
        }
    }
}
