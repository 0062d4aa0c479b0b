import BrokerKit
import Foundation
import Settings
import TestKit
import Testing

/// A SoftHSM2 of the tests' own behind the unsteady module, and a worker's configuration that signs inside its token.
final class HSMSite {
    static let softHSM = "/usr/lib/softhsm/libsofthsm2.so"
    static let compiler = ["/usr/bin/gcc", "/usr/bin/cc", "/usr/bin/clang"].first(where: isProgram)
    static var isHere: Bool {
        FileManager.default.fileExists(atPath: softHSM) && isProgram("/usr/bin/softhsm2-util") && compiler != nil
    }

    private static func isProgram(_ path: String) -> Bool { FileManager.default.isExecutableFile(atPath: path) }

    /// Beside no file that others may write: a module must lie where only its user can exchange it.
    private static let home = NSHomeDirectory() + "/.attest-worker-hsm-\(UUID().uuidString)"

    let workplace: ProgramWorkplace
    let folder: String
    let token: String
    let kid: String

    /// - Parameter prefix: of the topics, and the token's label.
    init(_ prefix: String, algorithm: String = "RS256") throws {
        token = prefix
        folder = Self.home + "/" + prefix
        try FileManager.default.createDirectory(atPath: folder + "/tokens", withIntermediateDirectories: true)
        try "directories.tokendir = \(folder)/tokens\nobjectstore.backend = file\nlog.level = ERROR\n"
            .write(toFile: folder + "/softhsm2.conf", atomically: true, encoding: .utf8)
        // The programs that this process starts have its environment.
        // No other thread of the suite reads variables now.
        unsafe setenv("SOFTHSM2_CONF", folder + "/softhsm2.conf", 1)
        unsafe setenv("UNSTEADY_TOKEN", folder, 1)
        let source = URL(filePath: #filePath).deletingLastPathComponent().path + "/unsteady_token.c"
        try Self.run(Self.compiler ?? "", ["-shared", "-fPIC", source, "-o", folder + "/module.so", "-ldl"])
        try Self.run(
            "/usr/bin/softhsm2-util",
            ["--init-token", "--free", "--label", prefix, "--pin", "1234", "--so-pin", "5678"]
        )
        let pin = folder + "/pin"
        _ = FileManager.default.createFile(
            atPath: pin,
            contents: Data("1234\n".utf8),
            attributes: [.posixPermissions: 0o600]
        )
        workplace = try ProgramWorkplace(prefix)
        let uri = "pkcs11:token=\(prefix)?module-path=\(folder)/module.so"
        let make = ["--only", "signing", "--algorithm", algorithm, "--token", uri, "--pin", pin, "--add"]
        try workplace.done("new-keys", make)
        kid = try Configuration.load(directory: workplace.config).signingKeys.last?.kid ?? ""
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Puts a key into use.
    func activate(_ kid: String, _ worker: ProgramProcess? = nil) throws {
        try workplace.done("new-keys", "--activate", kid, "--early")
        worker?.signal(SIGHUP)
    }

    /// A worker that has answered 60 exchanges.
    func worker() throws -> ProgramProcess {
        let worker = try workplace.start("run", "--instance", "one")
        // SoftHSM2 misses a token in whose file another process notes a login at that moment.
        #expect(worker.says("are assigned"), "\(worker.error)")
        try publish(60, exchanges: true, seed: 1)
        #expect(try workplace.hasOutcomes(60, of: [worker]), "\(worker.error)")
        return worker
    }

    /// Publishes exchanges and as many requests that need no token, and harms the token before the worker sees them.
    func expectDeferral(by worker: ProgramProcess, _ harm: () throws -> Void) throws {
        // Published before: the program that makes load opens the token too.
        worker.signal(SIGSTOP)
        try publish(60, exchanges: true, seed: 2)
        try publish(60, exchanges: false, seed: 3)
        try harm()
        worker.signal(SIGCONT)
        #expect(try workplace.hasOutcomes(180, of: [worker]), "\(worker.error)")
        #expect(try Outcomes(of: workplace).counts == ["accepted": 120, "no-active-key": 60])
    }

    func set(_ name: String) { _ = FileManager.default.createFile(atPath: folder + "/" + name, contents: nil) }
    func clear(_ name: String) throws { try FileManager.default.removeItem(atPath: folder + "/" + name) }
    func move(_ name: String, to other: String) throws {
        try FileManager.default.moveItem(atPath: folder + "/" + name, toPath: folder + "/" + other)
    }
    func isSet(_ name: String) -> Bool { FileManager.default.fileExists(atPath: folder + "/" + name) }

    func use(pin: String) throws { try pin.write(toFile: folder + "/pin", atomically: false, encoding: .utf8) }

    /// How often the token was asked for a login, by all processes.
    var logins: Int {
        let text = try? String(contentsOfFile: folder + "/logins", encoding: .utf8)
        return text?.split(separator: "\n").count ?? 0
    }

    /// Publishes exchanges, or what needs no token.
    func publish(_ records: Int, exchanges: Bool, seed: Int) throws {
        let verbs =
            exchanges ? "exchangeAppAttestAttestation,exchangeAppAttestAssertion" : "verifyAttestation,verifyAssertion"
        try workplace.simulate(devices: 10, records: records, seed: seed, verbs: verbs)
    }

    private static func run(_ program: String, _ arguments: [String]) throws {
        let run = PythonLab.run([program] + arguments)
        guard run.code == 0 else { throw ClusterFault(description: "\(program) \(arguments): \(run.error)") }
    }
}
