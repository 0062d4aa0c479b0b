internal import Broker
internal import CommandFrame
internal import Run
internal import Settings
internal import Telemetry
internal import Threads

/// Applies changes of a refresher's files while it runs: apps, DeviceCheck keys and the rate. If a changed file is
/// invalid, the refresher keeps what it has and logs why.
final class RefreshWatch {
    private var owner = Owner("RefreshWatch")
    private let directory: String
    private var running: LoadedRefresher
    private let say: (LogEvent) -> Void
    private let reloaded: (Bool) -> Void
    private var files: FileWatch

    /// - Parameters:
    ///   - stamps: of the files, from before they were read.
    ///   - isAsked: whether SIGHUP has come since the last call.
    ///   - reloaded: takes whether a changed configuration is in use.
    init(
        directory: String,
        running: LoadedRefresher,
        stamps: [String: FileStamp],
        isAsked: @escaping () -> Bool,
        elapsed: @escaping ProgressMeter.Stopwatch = ProgressMeter.stopwatch(),
        say: @escaping (LogEvent) -> Void,
        reloaded: @escaping (Bool) -> Void
    ) {
        (self.directory, self.running, self.say, self.reloaded) = (directory, running, say, reloaded)
        files = FileWatch(running.paths(in: directory), read: stamps, isAsked: isAsked, elapsed: elapsed)
    }

    /// Checks for changes: cheap, to be called several times a second.
    ///
    /// - Returns: what is to be worked by from now on; nil = as before.
    func poll() -> RefreshRules? {
        owner.check()
        guard files.poll() else { return nil }
        do throws(ConfigurationFault) {
            let next = try LoadedRefresher.load(.ofClient(directory), after: running)
            let fresh = next.warnings.filter { !running.warnings.contains($0) }
            running = next
            files.take()
            files.watch(running.paths(in: directory))
            reloaded(true)
            let count = next.rules.apps.count
            say(LogEvent(.info, .configurationReloaded, "the configuration is reloaded: \(count.counted("app"))"))
            for line in fresh { say(LogEvent(.warning, .configurationDoubtful, line)) }
            if !next.postponed.isEmpty {
                let names = next.postponed.joined(separator: ", ")
                say(LogEvent(.warning, .configurationDoubtful, "also changed, but needs a restart: \(names)"))
            }
            return next.rules
        } catch {
            reloaded(false)
            say(files.refusal(error.message, in: directory))
            return nil
        }
    }
}
