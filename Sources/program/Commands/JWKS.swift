internal import AppCheck
internal import CommandFrame
internal import Settings

extension Command {
    static let jwks = Command(
        name: "jwks",
        summary: "the public signing keys as a JSON Web Key Set",
        options: [
            .value("--config", "DIR", "the configuration directory", .required),
            .value("--output", "FILE", "replace this file at once instead of printing; - prints"),
            .flag("--try-pin", "log in to a token even where one more wrong PIN locks it"),
        ],
        notes: """
            The set has active and published keys. Serve it as v1/jwks and v1beta/jwks with a cache life of at most 6 h.
            """
    ) { arguments, console in
        let configuration = try Configuration.load(directory: try arguments.required("--config"))
        let ring = try ExchangeKeys.signing(configuration, triesLast: arguments.has("--try-pin")).ring
        // An empty set, once served, would make every verifier refuse every token. With revoked keys that is intended.
        guard !ring.isEmpty else {
            throw ConfigurationFault("worker.json lists no signing key: make one with \(AttestWorker.name) new-keys.")
        }
        let set = ring.jsonWebKeySet + [0x0A]
        guard let path = arguments.string("--output"), path != "-" else {
            try console.deliver(set)
            return ExitCode.done
        }
        let file = try OutputFile(path, .whole)
        try file.write(set)
        try file.close()
        console.print("wrote \(ring.keys.count.counted("key")) to \(path)")
        return ExitCode.done
    }
}
