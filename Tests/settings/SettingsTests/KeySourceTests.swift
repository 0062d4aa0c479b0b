internal import AppCheck
internal import Crypto
internal import Foundation
internal import TestKit
internal import Testing

@testable internal import Settings

@Suite("Keys that do not lie in files")
struct KeySourceTests {
    private static func sealing(_ members: String) -> String { #""sealingKeys":[{"id":"s1",\#(members)}]"# }

    private static func signing(_ members: String) -> String {
        #""signingKeys":[{"kid":"k1","algorithm":"ES256",\#(members)}]"#
    }

    private static func fault(_ members: String) throws -> ConfigurationFault? {
        let directory = try KeyDirectory(members)
        do throws(ConfigurationFault) { _ = try directory.load() } catch { return error }
        return nil
    }

    @Test func `what a program writes is the key, and is read again at a reload`() throws {
        let directory = try KeyDirectory(
            """
            "signingKeys":[{"kid":"e","algorithm":"ES256","command":["/bin/cat","DIR/e.pem"]}],
            "sealingKeys":[{"id":"s1","command":["/bin/sh","-c","cat DIR/s1; echo done >&2"]}],
            "challenges":{"keys":[{"id":"c1","command":["/bin/cat","DIR/c1"]}]}
            """
        )
        try directory.write("worker.json", try directory.text("worker.json").replacing("DIR", with: directory.path))
        try directory.write("e.pem", KeyText.p256)
        try directory.write("s1", KeyText.secret(1))
        try directory.write("c1", KeyText.secret(2))
        let loaded = try directory.load()
        #expect(loaded.keys.rings.tokens.active(.es256)?.kid == "e")
        #expect(loaded.keys.rings.sealing.active != nil && loaded.keys.rings.challenges.active != nil)
        // Nothing tells the age of a key that has no file.
        #expect(loaded.keys.signingFilesModifiedAt["e"] == nil)
        #expect(!loaded.paths(in: directory.path).contains("\(directory.path)/s1"))
        _ = try Reload(ConfigurationFiles(directory: directory.path), after: loaded)
        try directory.write("s1", KeyText.secret(3))
        #expect(
            throws: ConfigurationFault(
                "worker.json: sealing key s1 is now a different key: give the new one its own id."
            )
        ) { try Reload(ConfigurationFiles(directory: directory.path), after: loaded) }
    }

    @Test(
        arguments: [
            (#""command":["/bin/sh","-c","echo >&2; exit 3"]"#, "/bin/sh ended with exit code 3; run", ExitCode.failed),
            (#""command":["/bin/sh","-c","kill -9 $$"]"#, "/bin/sh was ended by signal 9; run it", ExitCode.failed),
            (#""command":["/nowhere/vault"]"#, "/nowhere/vault does not exist", ExitCode.failed),
            (#""command":["/etc/passwd"]"#, "/etc/passwd cannot be started: Permission denied", ExitCode.failed),
            (#""command":["/bin/sh","-c","yes"]"#, "/bin/sh printed more than 65536 bytes", ExitCode.failed),
            (#""command":["/bin/echo","x"]"#, "the output of /bin/echo is not base64; a symmetric", ExitCode.usage),
            (#""command":["/bin/true"]"#, "the output of /bin/true has 0 bytes; a symmetric", ExitCode.usage),
        ]
    )
    func `a program that gives no key is named, and a service manager tries again`(
        members: String,
        problem: String,
        code: Int32
    ) throws {
        let fault = try #require(try Self.fault(Self.sealing(members)))
        #expect(fault.message.hasPrefix("worker.json: sealing key s1: \(problem)"), "\(fault.message)")
        #expect(fault.exitCode == code && !fault.message.contains("\n"))
    }

    @Test(
        arguments: [
            sealing(#""command":["vault"]"#): "sealingKeys[0].command: must be a program's absolute path",
            sealing(#""command":[]"#): "sealingKeys[0].command: must be a program's absolute path",
            sealing(#""command":"/bin/true""#): "sealingKeys[0].command: must be a list of strings",
            sealing(#""command":["/bin/true"],"file":"s1""#):
                "sealingKeys[0]: must name where the key is: one of file, command",
            #""sealingKeys":[{"id":"s1"}]"#: "sealingKeys[0]: must name where the key is",
            #""signingKeys":[{"kid":"k1"}]"#: "signingKeys[0]: must name where the key is: one of file, command, key",
            signing(#""file":"f","pin":"${file:p}""#): "signingKeys[0].pin: goes with key alone",
            signing(#""file":"f","published":"2026-11-20T12:00:00Z""#):
                "signingKeys[0].published: goes with key or command",
            signing(#""key":"pkcs11:token=a;object=b""#): "signingKeys[0].key: must end in ?module-path=",
            signing(#""key":"pkcs11:token=a;object=b?module-path=/m.so","pin":"1234""#):
                "signingKeys[0].pin: must be ${file:PATH}: the path of a file that has the PIN",
            sealing(#""key":"pkcs11:token=a;object=b?module-path=/m.so""#): "sealingKeys[0].key: unknown key",
        ] as [String: String]
    )
    func `a key has one place, of a form that its list takes`(members: String, problem: String) throws {
        let fault = try #require(try Self.fault(members))
        #expect(fault.message.hasPrefix("worker.json: \(problem)"), "\(fault.message)")
        #expect(fault.exitCode == ExitCode.usage)
    }

    @Test func `a token that cannot be reached is the world's fault, and an open PIN is the configuration's`() throws {
        let key = #""key":"pkcs11:token=a;object=b?module-path=/nowhere/m.so""#
        let fault = try #require(try Self.fault(Self.signing(key)))
        #expect(
            fault.message.contains(
                "signing key k1: pkcs11:token=a;object=b?module-path=/nowhere/m.so cannot be reached"
            )
        )
        #expect(fault.exitCode == ExitCode.failed)
        let directory = try KeyDirectory(Self.signing(key + #","pin":"${file:pin}""#))
        try directory.write("pin", "1234\n", mode: 0o644)
        #expect(directory.fault()?.contains("signing key k1: DIR/pin is open to others (mode 644)") == true)
        // A replay that mints nothing asks no token.
        let loaded = try LoadedConfiguration.load(directory: directory.path, absentKeys: .tolerated)
        #expect(loaded.keys.absent == ["signing key k1"])
    }

    @Test func `a program of a folder that others may write is a mistake of the configuration`() throws {
        let directory = try KeyDirectory(Self.sealing(#""command":["DIR/program"]"#))
        try directory.write("worker.json", try directory.text("worker.json").replacing("DIR", with: directory.path))
        try directory.write("program", "#!/bin/sh\necho\n", mode: 0o755)
        let fault = try #require(throws: ConfigurationFault.self) { try directory.load() }
        #expect(fault.exitCode == ExitCode.usage && fault.message.contains("/program lies in /"))
        #expect(fault.message.contains("others than its owner can write"))
    }

    @Test func `a configuration that one was sent runs no program`() throws {
        let directory = try KeyDirectory(Self.sealing(#""command":["/bin/sh","-c","echo > DIR/ran"]"#))
        try directory.write("worker.json", try directory.text("worker.json").replacing("DIR", with: directory.path))
        let loaded = try LoadedConfiguration.load(
            directory: directory.path,
            absentKeys: .tolerated,
            runsPrograms: false
        )
        #expect(loaded.keys.absent == ["sealing key s1"])
        #expect(loaded.keys.absenceWarning?.contains("--run-programs") == true)
        let refusal = ConfigurationFault("worker.json: sealing key s1 is written by a program: --run-programs runs it.")
        #expect(throws: refusal) { try LoadedConfiguration.load(directory: directory.path, runsPrograms: false) }
        #expect(throws: refusal) { try ExchangeKeys.refusePrograms(loaded.configuration) }
        #expect(WholeFile.text(directory.path + "/ran") == nil)
    }

    @Test func `worker.json tells when a key without a file was published`() throws {
        let directory = try KeyDirectory(
            Self.signing(#""command":["/bin/cat","DIR/e.pem"],"published":"2026-11-20T12:00:00Z""#)
        )
        try directory.write("worker.json", try directory.text("worker.json").replacing("DIR", with: directory.path))
        try directory.write("e.pem", KeyText.p256)
        #expect(try directory.load().keys.signingFilesModifiedAt["k1"] == TimeText.milliseconds("2026-11-20T12:00:00Z"))
    }
}
