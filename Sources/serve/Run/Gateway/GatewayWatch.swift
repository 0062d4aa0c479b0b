internal import AppCheck
internal import Broker
internal import CommandFrame
internal import Gateway
internal import Settings
internal import Telemetry
internal import Threads

/// Applies changes of a gateway's files while it runs: apps.json, worker.json's lists, challenge keys, the key set and
/// the verifiers. If a changed file is invalid, the gateway keeps the old configuration and logs why.
final class GatewayWatch {
    private var owner = Owner("GatewayWatch")
    private let directory: String
    private var running: LoadedGateway
    private let apply: (GatewayRules) -> Void
    private let say: (LogEvent) -> Void
    private let reloaded: (Bool) -> Void
    private var files: FileWatch

    /// - Parameters:
    ///   - stamps: of the files, from before they were read.
    ///   - isAsked: whether SIGHUP has come since the last call.
    ///   - reloaded: takes whether a changed configuration is in use.
    init(
        directory: String,
        running: LoadedGateway,
        stamps: [String: FileStamp],
        isAsked: @escaping () -> Bool,
        elapsed: @escaping ProgressMeter.Stopwatch = ProgressMeter.stopwatch(),
        apply: @escaping (GatewayRules) -> Void,
        say: @escaping (LogEvent) -> Void,
        reloaded: @escaping (Bool) -> Void
    ) {
        (self.directory, self.running, self.apply) = (directory, running, apply)
        (self.say, self.reloaded) = (say, reloaded)
        files = FileWatch(running.paths(in: directory), read: stamps, isAsked: isAsked, elapsed: elapsed)
    }

    /// Checks for changes: cheap, to be called several times a second.
    func poll() {
        owner.check()
        if files.poll() { reload() }
    }

    private func reload() {
        do throws(ConfigurationFault) {
            let next = try LoadedGateway.load(.ofClient(directory), after: running)
            apply(try GatewayRules.of(next))
            let now = WallClock.milliseconds()
            let old = running.warnings(now: now)
            let fresh = next.warnings(now: now).filter { !old.contains($0) }
            running = next
            files.take()
            files.watch(running.paths(in: directory))
            reloaded(true)
            let count = next.configuration.registry.apps.count
            say(LogEvent(.info, .configurationReloaded, "the configuration is reloaded: \(count.counted("app"))"))
            for line in fresh { say(LogEvent(.warning, .configurationDoubtful, line)) }
            guard !next.postponed.isEmpty else { return }
            let names = next.postponed.joined(separator: ", ")
            say(LogEvent(.warning, .configurationDoubtful, "also changed, but needs a restart: \(names)"))
        } catch {
            reloaded(false)
            say(files.refusal(error.message, in: directory))
            takeOwnFiles()
        }
    }

    /// A key or caller that was revoked must not wait until another file is right.
    private func takeOwnFiles() {
        for file in LoadedGateway.OwnFile.allCases {
            guard let next = running.renewing(file), let rules = try? GatewayRules.of(next) else { continue }
            running = next
            apply(rules)
            let sentence = "the file of gateway.\(file.rawValue) is in use as it is now; nothing else is taken"
            say(LogEvent(.warning, .configurationReloaded, sentence))
        }
    }
}

extension GatewayRules {
    /// - Throws: ``ConfigurationFault`` for a file of the gateway that cannot be understood.
    static func of(_ loaded: LoadedGateway) throws(ConfigurationFault) -> GatewayRules {
        var keySet: (bytes: [UInt8], keys: VerificationKeys)?
        if let bytes = loaded.publicKeys {
            do throws(KeySetFault) { keySet = (bytes, try VerificationKeys(jsonWebKeySet: bytes)) } catch {
                throw fault("publicKeys", loaded.configuration.gateway.publicKeys, error.description)
            }
        }
        do throws(VerifiersFault) {
            return GatewayRules(
                loaded.configuration,
                challenges: loaded.challenges,
                verifiers: try Verifiers(loaded.verifiers ?? []),
                keySet: keySet
            )
        } catch {
            throw fault("verifiers", loaded.configuration.gateway.verifiers, error.description)
        }
    }

    private static func fault(_ name: String, _ path: String?, _ problem: String) -> ConfigurationFault {
        ConfigurationFault("worker.json: gateway.\(name): \((path ?? "the file").printable) \(problem).")
    }
}
