internal import Broker
package import CommandFrame
package import Settings
package import Telemetry
internal import Threads

/// The files of a gateway or a refresher, as it has read them.
package protocol ProgramFiles {
    /// The settings that the program works by.
    associatedtype Rules

    /// Doubtful points that do not keep the program from running: one line each.
    var warnings: [String] { get }
    /// Other changes since the start, which wait for a restart.
    var postponed: [String] { get }
    /// How many apps it works for.
    var appCount: Int { get }
    /// The same with files that must not wait until a bad one is right, and a sentence for each.
    var urgent: [(files: Self, rules: Rules, sentence: String)] { get }

    static func load(_ files: ConfigurationFiles, after running: Self?) throws(ConfigurationFault) -> Self
    func makeRules() throws(ConfigurationFault) -> Rules
    /// Every file whose change asks for a reload.
    func paths(in directory: String) -> Set<String>
}

/// The files of a directory at the start of a program, with stamps that are not newer.
package struct ReadFiles<Files: ProgramFiles> {
    let directory: String
    let present: () -> ConfigurationFiles
    package let loaded: Files
    let stamps: [String: FileStamp]

    package init(in directory: String) throws(ConfigurationFault) {
        try self.init(in: directory) { .ofClient(directory) }
    }

    /// - Parameter present: the files as they are now.
    package init(
        in directory: String,
        present: @escaping () -> ConfigurationFiles
    ) throws(ConfigurationFault) {
        (self.directory, self.present) = (directory, present)
        // Only what was read says which files there are.
        let first = try Files.load(present(), after: nil)
        stamps = FileStamp.all(first.paths(in: directory))
        loaded = try Files.load(present(), after: nil)
    }

    /// - Parameter loaded: was read earlier, from files that have not changed since.
    package init(_ loaded: Files, in directory: String, present: @escaping () -> ConfigurationFiles) {
        (self.directory, self.present, self.loaded) = (directory, present, loaded)
        stamps = FileStamp.all(loaded.paths(in: directory))
    }
}

/// Applies changes of a program's files while it runs. If a changed file is invalid, the program keeps what it has and logs
/// why.
package final class ReloadWatch<Files: ProgramFiles> {
    private var owner = Owner("ReloadWatch")
    private let directory: String
    private let present: () -> ConfigurationFiles
    private var running: Files
    private let apply: (Files.Rules) -> Void
    private let say: (LogEvent) -> Void
    private let reloaded: (Bool) -> Void
    private var files: FileWatch

    /// - Parameters:
    ///   - isAsked: whether SIGHUP has come since the last call.
    ///   - reloaded: takes whether a changed configuration is in use.
    package init(
        _ start: ReadFiles<Files>,
        isAsked: @escaping () -> Bool,
        elapsed: @escaping ProgressMeter.Stopwatch = ProgressMeter.stopwatch(),
        apply: @escaping (Files.Rules) -> Void,
        say: @escaping (LogEvent) -> Void,
        reloaded: @escaping (Bool) -> Void
    ) {
        (directory, present, running, self.apply) = (start.directory, start.present, start.loaded, apply)
        (self.say, self.reloaded) = (say, reloaded)
        let paths = start.loaded.paths(in: start.directory)
        files = FileWatch(paths, read: start.stamps, isAsked: isAsked, elapsed: elapsed)
    }

    /// Checks for changes: cheap, to be called several times a second.
    package func poll() {
        owner.check()
        guard files.poll() else { return }
        do throws(ConfigurationFault) { try reload() } catch {
            reloaded(false)
            say(files.refusal(error.message, in: directory))
            for (next, rules, sentence) in running.urgent {
                running = next
                apply(rules)
                say(LogEvent(.warning, .configurationReloaded, sentence))
            }
        }
    }

    private func reload() throws(ConfigurationFault) {
        let next = try Files.load(present(), after: running)
        apply(try next.makeRules())
        let old = running.warnings
        let fresh = next.warnings.filter { !old.contains($0) }
        running = next
        files.take()
        files.watch(running.paths(in: directory))
        reloaded(true)
        let count = next.appCount.counted("app")
        say(LogEvent(.info, .configurationReloaded, "the configuration is reloaded: \(count)"))
        for line in fresh { say(LogEvent(.warning, .configurationDoubtful, line)) }
        guard !next.postponed.isEmpty else { return }
        let names = next.postponed.joined(separator: ", ")
        say(LogEvent(.warning, .configurationDoubtful, "also changed, but needs a restart: \(names)"))
    }
}
