internal import CommandFrame
internal import Lab
internal import Run
internal import Settings

extension Command {
    static let newConfig = Command(
        name: "new-config",
        summary: "a trial configuration for fake devices",
        options: [.value("--config", "DIR", "the directory to make", .required)],
        notes: """
            DIR gets worker.json, apps.json and kafka.properties, a lab authority whose roots are the anchors, one project
            with one app, a fresh key of each kind, and the public key set for a gateway. No file is overwritten. With DIR/\(LabAnchors.authorityFile)
            anyone can make devices that this configuration accepts: use it for trials only.
            """
    ) { arguments, console in
        let directory = try arguments.required("--config")
        for file in try NewConfiguration.write(to: directory) { console.print("wrote \(directory)/\(file)") }
        console.print("\n" + nextSteps(directory))
        return ExitCode.done
    }

    private static func nextSteps(_ directory: String) -> String {
        let (name, load) = (AttestWorker.name, "--config \(directory) --devices 100 --records 2000")
        return """
            Next, without a broker:
              \(name) simulate \(load) --output \(directory)/capture.ndjson
              \(name) replay --config \(directory) --input \(directory)/capture.ndjson --output \(directory)/replayed

            Or with the broker of \(directory)/kafka.properties (localhost:9092):
              \(name) create-topics --config \(directory) --partitions 6
              \(name) run --config \(directory) --check
              \(name) run --config \(directory)
              \(name) simulate \(load) --publish

            HTTP for stock clients on 127.0.0.1, port 8080, beside the worker; after each new signing key the key set again:
              \(name) gateway --config \(directory)
              \(name) simulate \(load) --live --via http://127.0.0.1:8080
              \(name) jwks --config \(directory) --output \(directory)/jwks.json
            """
    }
}
