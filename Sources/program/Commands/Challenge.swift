internal import AppAttest
internal import AppCheck
internal import CommandFrame
internal import Crypto
internal import JSON
internal import Pipeline
internal import Settings

extension Command {
    static let challenge = Command(
        name: "challenge",
        summary: "sealed challenges for tests, as generateAppAttestChallenge answers them",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--app", "NAME", "projects/{number or id}/apps/{app id}, or oauthClients/{client id}", .required),
            .value("--count", "N", "how many, one on each line (1)"),
            .value("--at", "TIME", "when they are issued (now)"),
        ],
        notes: """
            Each is standard base64, ready for the member "challenge". A device signs the decoded bytes. This command
            shows that every holder of the configuration's challenge keys can make challenges.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let name = try arguments.required("--app")
        guard let app = configuration.registry.find(resource: name) else {
            let known = configuration.registry.apps.map(\.name)
            throw UsageFault(
                "--app: apps.json has no app named '\(name.printable)'; try \(known.first ?? "another")."
            )
        }
        let count = try arguments.integer("--count", in: 1...1_000_000) ?? 1
        let time = try arguments.time("--at") ?? WallClock.milliseconds()
        guard configuration.challenges.mode == .sealed else {
            throw ConfigurationFault("worker.json: challenges.mode is external: the gateway makes the challenges.")
        }
        guard let key = try ExchangeKeys.load(configuration).rings.challenges.active else {
            throw ConfigurationFault("worker.json lists no challenge key: make one with \(AttestWorker.name) new-keys.")
        }
        for _ in 0..<count {
            let challenge = key.seal(
                app: app.name,
                issuedAt: EvaluationTime(milliseconds: time),
                random: SecureRandom.bytes(ChallengeKey.randomBytes)
            )
            console.write(Base64.encode(challenge) + [0x0A])
        }
        return ExitCode.done
    }
}
