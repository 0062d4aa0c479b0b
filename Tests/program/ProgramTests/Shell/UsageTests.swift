internal import AppCheck
internal import CommandFrame
internal import Foundation
internal import Settings
internal import TestKit
internal import Testing

@testable internal import Commands

/// Commands that cannot be carried out, each with words of the line that says why. DIR is a configuration without keys,
/// KEY a device's key ID, and LONG a text of 257 bytes.
@Suite("Wrong usage of commands")
struct UsageTests {
    private static let frame = [
        ("replya", "unknown command 'replya': did you mean replay? Try "),
        ("--versoin", "unknown option '--versoin': did you mean --version? Try "),
        ("schema reslts", "no schema is named 'reslts'"),
        ("reasons chian", "did you mean chain?"), ("reasons nonce-mismatsh", "did you mean nonce-mismatch?"),
        ("reasons unknown-apps", "did you mean unknown-app?"),
        ("reasons reciept:expired", "did you mean receipt:expired"),
        ("reasons zzzzzzzz", "unknown reason 'zzzzzzzz'."), ("reset --config /absent", "/absent/worker.json"),
        ("run --config /absent", "/absent/worker.json"),
        ("refresh-receipts --config /nowhere --once", "unknown option --once"),
    ]

    private static let demo = [
        ("demo --seconds 3", "--seconds is for --broker."),
        ("demo --properties /dev/null", "--properties is for --broker."),
        ("demo --broker nowhere", "--broker must be HOST:PORT"),
        ("demo --broker a:1,,b:2", "--broker must be HOST:PORT"),
        ("demo --broker a:1\nssl.key.location=/x", "--broker must be HOST:PORT"),
        ("demo --broker 127.0.0.1:1 --properties /nowhere", "--properties: "),
    ]

    private static let operators = [
        ("ban --config DIR", "name one: --key-id KEYID or --installation ID."),
        ("unban --config DIR --key-id KEY --installation x", "name one: --key-id KEYID"),
        ("ban --config DIR --key-id abc", "--key-id must be a key ID, 44 characters of base64"),
        ("bans --config DIR --key-id abc", "--key-id must be a key ID, 44 characters of base64"),
        ("ban --config DIR --installation LONG", "--installation must have 1 to 256 bytes."),
        ("ban --config DIR --key-id KEY", "worker.json lists no sealing key, and no challenge key"),
        ("ban --config DIR --key-id KEY --until +2h", "worker.json lists no sealing key, and no challenge key"),
        ("ban --config DIR --key-id KEY --until soon", "--until must be a time such as"),
        ("ban --config DIR --key-id KEY --until +soon", "--until must be a time, or + and a duration"),
        ("ban --config DIR --key-id KEY --until +99999999999999999d", "--until must be a time, or +"),
        ("ban --config DIR --key-id KEY --until +0s", "--until must lie ahead"),
        ("ban --config DIR --key-id KEY --until 2020-01-01T00:00:00Z", "--until must lie ahead"),
        // An unban has no end, and a forgotten key neither.
        ("unban --config DIR --key-id KEY --until +2h", "unknown option --until"),
        ("forget --config DIR --key-id KEY --until +2h", "unknown option --until"),
        ("forget --config DIR --installation x", "unknown option --installation"),
        ("requeue --config DIR --reason internall", "did you mean internal?"),
        ("requeue --config DIR --limit 0", "--limit must be a whole number of at least 1"),
        ("create-topics --config DIR --partitions 1 --reply-partitions 2", "topics.replies"),
    ]

    private static let keys = [
        ("new-keys --config DIR --only signing,keys", "'keys' is not signing, sealing or challenge"),
        ("new-keys --config DIR --algorithm HS256", "--algorithm must be RS256 or ES256, not 'HS256'"),
        ("new-keys --config DIR --activate nobody", "worker.json lists no key nobody"),
        ("new-keys --config DIR --activate x --add", "--activate makes no key"),
        ("new-keys --config DIR --activate x --rsa-bits 3072", "--activate makes no key"),
        ("new-keys --config DIR --early", "--early needs --activate"),
        ("new-keys --config DIR --rsa-bits 1024", "--rsa-bits must be 2048, 3072 or 4096, not 1024"),
        ("new-keys --config DIR --rsa-bits 3072 --algorithm ES256", "--rsa-bits applies to RSA keys"),
        ("new-keys --config DIR --rsa-bits 3072 --only sealing", "--rsa-bits applies to signing keys"),
    ]

    private static let inspections = [
        ("inspect AAAA", "neither an attestation, an assertion, a receipt, an artifact nor a token"),
        ("inspect AAAA", "read as base64 it has 3 bytes and begins with 000000; read as hex it has 2 bytes and begins"),
        ("inspect what?", "is neither a file nor base64 or hex"), ("inspect omlz omlz", "unexpected argument"),
        ("inspect", "FILE|BASE64|- is missing"), ("inspect --key-id AAAA omlz", "--key-id must be 32 bytes"),
        ("inspect DIR/capture", "/capture holds neither an object nor base64 or hex of one."),
        ("inspect --public-key AAAA omlz", "not 3 that begin with 00"),
        ("inspect --client-data-hash ! omlz", "--client-data-hash must be a hash in base64"),
        ("inspect --client-data /absent omlz", "cannot read /absent"),
        ("inspect --config /absent omlz", "cannot read /absent/worker.json"),
        ("inspect --input c", "--config DIR is required with --input"),
        ("inspect --input c --config d", "give either --record PARTITION/OFFSET or --request-id ID."),
        ("inspect --input c --config d --record 1", "--record must be PARTITION/OFFSET"),
        ("inspect --input c --config d --record 0/-1", "not '0/-1'"),
        ("inspect --input c --config d --record 0/1 --request-id x", "give either"),
        ("inspect --input - --config d --record 0/1 --keys -", "cannot both be standard input"),
        ("inspect --input c --config d --record 0/1 omlz", "give either 'omlz' or --input"),
        ("inspect --input c --key-id x", "--key-id is for an object by itself"),
        ("inspect --record 0/1 omlz", "--record needs --input CAPTURE"),
        ("inspect --input c --config d --record 0/1 --partitions 0", "--partitions must be"),
    ]

    private static let simulations = [
        ("simulate --config DIR --devices 2 --records 1 --output x", "--records must be at least --devices (2)"),
        ("simulate --config DIR --devices 0 --records 1 --output x", "--devices must be a whole number"),
        ("simulate ONE", "give either --output CAPTURE or --publish"),
        ("simulate ONE --output x --publish", "give either"),
        ("simulate ONE --publish --start 2026-11-20T12:00:00Z", "--start cannot be used with --publish"),
        ("simulate ONE --output x --verbs exchangeDebugToken", "'exchangeDebugToken' cannot be simulated"),
        ("simulate ONE --output x --verbs verifyAssertoin", "did you mean verifyAssertion?"),
        ("simulate ONE --live", "--live needs --publish"),
        ("simulate ONE --publish --live --faults 0.1", "--faults cannot be used with"),
        ("simulate ONE --publish --live --verbs verifyAssertion", "--verbs cannot be used with --live"),
        ("simulate ONE --via http://h", "--via needs --live"),
        ("simulate ONE --live --publish --via http://h", "and not both"),
        ("simulate ONE --live --via h:80", "--via must be a gateway's address"),
        ("simulate ONE --live --publish --ca-file x", "--ca-file needs --via"),
        ("simulate ONE --live --publish --verifier-secret x", "--verifier-secret needs --via"),
        ("simulate ONE --live --publish --connections 3", "--connections needs --via"),
    ]

    private static let reports = [
        ("replay --config DIR --output DIR/new", "--input CAPTURE is required"),
        ("replay --config DIR --output DIR/new --input - -", "standard input is named twice"),
        ("replay --config DIR --output DIR/new --input - --keys -", "--input and --keys cannot both"),
        ("replay IN --lanes 0", "--lanes must be a whole number"),
        ("replay IN --diff x", "--diff needs --report FILE or --json"),
        ("replay IN --json --summary -", "--summary and --json cannot both be standard output."),
        ("replay IN --report r --diff -", "not standard input"),
        ("replay IN --report - --summary -", "--summary and --report cannot both be standard output."),
        ("replay IN --report - --explain -", "--explain and --report cannot both be standard output."),
        ("replay IN --explain - --summary -", "--summary and --explain cannot both be standard output."),
        ("replay IN --report DIR/capture", "would be overwritten"),
        ("replay IN --explain DIR/capture", "would be overwritten"),
        ("replay IN --summary DIR/capture", "is the file of --input and would be overwritten"),
        ("replay --config DIR --input DIR/out/results.ndjson --output DIR/out", "is the file of --input and would be"),
        ("replay IN --keys DIR/out/../out/results.ndjson", "is the file of --keys and would be overwritten"),
        ("replay IN --report r --diff DIR/out/results.ndjson", "would be overwritten"),
        ("rollout --config DIR --input DIR/capture --report - --json", "cannot both be standard output"),
        ("rollout --config DIR --input DIR/capture --report DIR/capture", "would be overwritten"),
        ("risk --config DIR --input DIR/capture --report DIR/capture", "would be overwritten"),
        ("risk --config DIR --input DIR/capture --above 0", "--above must be"),
        ("tail --config DIR --reason baned", "no result has the reason 'baned': did you mean banned?"),
        ("tail --config DIR --reason not-json", "no result has the reason 'not-json'"),
        ("tail --config DIR --app Shops", "no app of apps.json is 'Shops': did you mean Shop?"),
        ("top", "name --instances HOST:PORT, or --config DIR"), ("top --instances localhost", "takes HOST:PORT"),
        ("top --instances a:b@c:1", "takes HOST:PORT"), ("top --instances a/b:1", "takes HOST:PORT"),
        ("top --instances a:1 --interval 0", "--interval must be a whole number from 1 to 60"),
        ("top --config DIR", "metrics.port is 0"),
    ]

    private static let apple = [
        ("lab-apple --config DIR", "--key is required"), ("lab-apple --config DIR --key T:K", "not 'T:K'"),
        ("lab-apple --config DIR --key :K:DIR/key.pem", "--key must be TEAM:KID:FILE"),
        ("lab-apple --config DIR --key T,:K:DIR/key.pem", "--key must be TEAM:KID:FILE"),
        ("lab-apple --config DIR --key T:K:", "--key must be TEAM:KID:FILE"),
        ("lab-apple --config DIR --key T:K:DIR/absent.pem", "absent.pem"),
        ("lab-apple --config DIR --key T:K:DIR/apps.json", "is neither a public nor a private key on P-256"),
        ("lab-apple APPLE --port 65536", "--port must be a whole number from 0 to 65535"),
        ("lab-apple APPLE --environment sandbox", "--environment must be production or development"),
        ("lab-apple APPLE --fault cut", "--fault needs --faults"),
        ("lab-apple APPLE --faults 1 --fault cutt", "unknown fault 'cutt': did you mean cut?"),
        ("lab-apple APPLE", "cannot read DIR/lab-authority.json"),
    ]

    private static let shorthands = [
        ("ONE", "--config DIR --devices 1 --records 1"), ("IN", "--config DIR --input DIR/capture --output DIR/out"),
        ("APPLE", "--config DIR --key T:K:DIR/key.pem"), ("LONG", String(repeating: "x", count: 257)),
        ("KEY", String(decoding: KeySamples.key(1).keyID.recordKey, as: UTF8.self)),
    ]

    @Test(arguments: [frame, demo, operators, keys, inspections, simulations, reports, apple].flatMap(\.self))
    func `it ends with exit code 2 and one line that says what is wrong, and changes no file`(
        line: String,
        words: String
    ) throws {
        let directory = try KeyDirectory(app: #""name":"Shop","appleAppIds":["ABCDE12345.b"]"#)
        try directory.write("bootstrap.servers=127.0.0.1:1\ngroup.id=g\n", to: "kafka.properties")
        try directory.write("key.pem", KeyText.p256)
        try directory.write("", to: "capture")
        try FileManager.default.createDirectory(atPath: directory.file("out"), withIntermediateDirectories: true)
        try directory.write("kept", to: "out/results.ndjson")
        let before = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
        let worker = try directory.text("worker.json")
        let given = line.split(separator: " ").map(String.init).flatMap { word -> [String] in
            Self.shorthands.first { $0.0 == word }?.1.split(separator: " ").map(String.init) ?? [word]
        }
        let (code, transcript) = Transcript.run(given.map { $0.replacing("DIR", with: directory.path) })
        let error = transcript.error.replacing(directory.path, with: "DIR")
        #expect(code == 2 && transcript.output.isEmpty, "\(error)")
        #expect(error.hasPrefix("attest-worker: ") && error.contains(words), "\(error)")
        #expect(error.filter(\.isNewline).count == 1, "\(error)")
        #expect(!error.contains("?.") && !error.contains(".."), "no sentence ends twice: \(error)")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: directory.path) == before)
        #expect(try directory.text("worker.json") == worker && directory.text("out/results.ndjson") == "kept")
    }

    @Test(arguments: AttestWorker.commands.map(\.name))
    func `each command names the options that it must have, and refuses one that it does not know`(name: String) throws
    {
        let command = try #require(AttestWorker.commands.first { $0.name == name })
        let unknown = Transcript.run([name, "--no-such-option"])
        #expect(unknown.code == 2 && unknown.transcript.error.contains("\(name): unknown option --no-such-option"))
        let required = command.options.filter { $0.presence == .required }.map(\.usage).joined(separator: ", ")
        guard !required.isEmpty else { return }
        let bare = Transcript.run([name])
        #expect(bare.code == 2 && bare.transcript.error.contains("\(name): \(required) "), "\(bare.transcript.error)")
    }
}
