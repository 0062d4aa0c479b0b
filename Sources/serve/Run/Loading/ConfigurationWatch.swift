package import AppCheck
internal import Broker
package import CommandFrame
internal import Pipeline
package import Settings
package import Telemetry
internal import Threads

/// Applies changes of apps.json, of worker.json's key lists and of the key files while a worker runs.
///
/// SIGHUP asks for a reload, and so does a file that has changed and was the same at the next poll. If a changed file
/// is invalid, the worker keeps the old configuration and logs why in one line.
package final class ConfigurationWatch {
    private var owner = Owner("ConfigurationWatch")
    /// Hands the new apps and keys to the loop, which applies them between two batches and then calls `taken` on a
    /// separate thread: with nil once they are in use, else with the reason why it keeps the old ones.
    package typealias Apply = (Configuration, KeyRings, _ taken: @escaping @Sendable (String?) -> Void) -> Void

    private let directory: String
    private let present: () -> ConfigurationFiles
    private var running: LoadedConfiguration
    private let wallClock: () -> Int64
    private let apply: Apply
    private let say: (LogEvent) -> Void
    private let reloaded: (LoadedConfiguration?) -> Void

    private var files: FileWatch
    /// The time since which each signing key is known here.
    private var known: [String: Int64]
    /// The reload that the loop has been handed and has not answered yet.
    private var handed: (reload: Reload, answer: Locked<Answer?>)?

    private enum Answer { case taken, refused(String) }

    /// - Parameters:
    ///   - present: the files as they are now; nil = the directory's.
    ///   - isAsked: whether SIGHUP has come since the last call.
    ///   - elapsed: a clock that never goes back.
    ///   - wallClock: milliseconds since 1970.
    ///   - apply: called with the new configuration; it counts as running once the loop has applied it.
    ///   - reloaded: takes what is in use from now on; nil = a changed configuration was refused.
    package init(
        directory: String,
        running: LoadedConfiguration,
        present: (() -> ConfigurationFiles)? = nil,
        isAsked: @escaping () -> Bool = { false },
        elapsed: @escaping ProgressMeter.Stopwatch = ProgressMeter.stopwatch(),
        wallClock: @escaping () -> Int64 = WallClock.milliseconds,
        apply: @escaping Apply,
        say: @escaping (LogEvent) -> Void,
        reloaded: @escaping (LoadedConfiguration?) -> Void = { _ in }
    ) {
        self.directory = directory
        self.present = present ?? { .ofClient(directory) }
        self.running = running
        self.wallClock = wallClock
        self.apply = apply
        self.say = say
        self.reloaded = reloaded
        // Changes since the start, however long it took, are noticed by the first polls.
        files = FileWatch(running.paths(in: directory), read: running.stamps, isAsked: isAsked, elapsed: elapsed)
        let now = wallClock()
        let kids = running.keys.rings.tokens.keys.map(\.kid) + running.keys.silent.map(\.kid)
        known = Dictionary(uniqueKeysWithValues: kids.map { ($0, now) })
    }

    /// Checks for changes: cheap, to be called several times a second.
    package func poll() {
        owner.check()
        checkAnswer()
        // One at a time: the next one is judged by the configuration that the loop has then.
        if handed == nil, files.poll() { reload() }
    }

    private func reload() {
        do throws(ConfigurationFault) {
            let reload = try Reload(present(), after: running)
            files.watch(reload.loaded.paths(in: directory))
            hand(reload)
        } catch {
            refuse(error.message)
            // Files named by a bad list are watched too: the user may fix one of them next.
            guard let attempt = try? Configuration.load(present()) else { return }
            let tried = LoadedConfiguration(configuration: attempt, keys: running.keys)
            files.watch(files.paths.union(tried.paths(in: directory)))
        }
    }

    private func hand(_ reload: Reload) {
        assert(handed == nil, "one reload at a time")
        let answer = Locked<Answer?>(nil)
        handed = (reload, answer)
        apply(reload.loaded.configuration, reload.loaded.keys.rings) { refusal in
            answer.withLock { $0 = refusal.map { .refused($0) } ?? .taken }
        }
        checkAnswer()
    }

    private func checkAnswer() {
        guard let (reload, answer) = handed, let answer = answer.withLock({ $0 }) else { return }
        handed = nil
        switch answer {
        case .taken where !reload.revoked.isEmpty: adopt(revocation: reload)
        case .taken: adopt(reload)
        case .refused(let reason): refuse(reason, isWhole: reload.revoked.isEmpty)
        }
    }

    private func refuse(_ reason: String, isWhole: Bool = true) {
        say(files.refusal(reason, in: directory))
        reloaded(nil)
        guard isWhole, let reload = Reload(revocationsIn: present(), after: running) else { return }
        hand(reload)
    }

    /// Says what no longer works because of a reload.
    private func say(taken: [String]) {
        for line in taken { say(LogEvent(.error, .keyMissing, "\(line); this reload took the last one away")) }
    }

    private func adopt(revocation reload: Reload) {
        let taken = reload.loaded.takenKeys(after: running)
        running = reload.loaded
        reloaded(running)
        // The rest is still refused.
        reloaded(nil)
        let names = reload.revoked.map(\.printable).joined(separator: ", ")
        say(LogEvent(.warning, .configurationReloaded, "revoked, and in use no more: \(names); nothing else is taken"))
        say(taken: taken)
    }

    private func adopt(_ reload: Reload) {
        let now = wallClock()
        let keys = reload.loaded.keys
        let active =
            running.keys.rings.tokens.keys.filter { $0.state == .active }.map(\.kid) + running.keys.silent.map(\.kid)
        let warnings = PublicationRule.warnings(keys, memory: .init(known: known, active: Set(active)), now: now)
        let doubts = reload.loaded.warnings(after: running, now: now)
        let taken = reload.loaded.takenKeys(after: running)
        for key in keys.rings.tokens.keys where known[key.kid] == nil { known[key.kid] = now }
        running = reload.loaded
        files.take()
        assert(keys.rings.tokens.keys.allSatisfy { known[$0.kid] != nil }, "each key is known from now on")
        reloaded(running)
        say(LogEvent(.info, .configurationReloaded, "the configuration is reloaded: \(running.account)"))
        say(taken: taken)
        for line in doubts { say(LogEvent(.warning, .configurationDoubtful, line)) }
        for line in warnings { say(LogEvent(.warning, .keyYoung, line)) }
        guard !reload.postponed.isEmpty else { return }
        let names = reload.postponed.joined(separator: ", ")
        say(LogEvent(.warning, .configurationDoubtful, "also changed, but needs a restart: \(names)"))
    }
}
