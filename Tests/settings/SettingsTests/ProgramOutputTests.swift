import TestKit
import Testing

@testable import Settings

@Suite("Programs that are run for what they print", .waiting)
struct ProgramOutputTests {
    private func clause(_ arguments: [String], limit: Duration = .seconds(60), bytes: Int = 1_000) -> String? {
        do throws(ProgramFault) {
            _ = try ProgramOutput.run(arguments: arguments, limit: limit, bytes: bytes)
            return nil
        } catch { return error.clause }
    }

    private func shell(_ script: String) -> [String] { ["/bin/sh", "-c", script] }

    @Test func `a program's output is all that it printed, its arguments are words, and no shell is between`() throws {
        let arguments = ["/bin/echo", "a  b", "$HOME;*"]
        let bytes = try ProgramOutput.run(arguments: arguments, limit: .seconds(60), bytes: 1_000)
        #expect(bytes == Array("a  b $HOME;*\n".utf8))
    }

    @Test func `a program inherits the environment, an empty input, no open file and no blocked signal`() throws {
        let script = "cat; test -n \"$PATH\" && ls /proc/self/fd && grep SigBlk /proc/self/status"
        let bytes = try ProgramOutput.run(arguments: shell(script), limit: .seconds(60), bytes: 1_000)
        // The fourth is the program's own file, the fifth the folder that `ls` reads.
        #expect(String(decoding: bytes, as: UTF8.self) == "0\n1\n2\n3\n4\nSigBlk:\t0000000000000000\n")
    }

    @Test(arguments: [
        ("echo no; echo because >&2; echo more >&2; exit 3", "ended with exit code 3: because"),
        ("exit 1", "ended with exit code 1"), ("kill -9 $$", "was ended by signal 9"),
        ("printf 'a\\033[2Jb' >&2; exit 2", "ended with exit code 2: a[U+001B][2Jb"),
    ])
    func `an end that is not 0 is told with the first line of standard error`(script: String, told: String) {
        #expect(clause(shell(script)) == told)
    }

    @Test func `a program that is not there cannot be started`() {
        #expect(clause(["/nothing/here"]) == "does not exist")
        #expect(clause(["/etc/passwd"]) == "cannot be started: Permission denied")
    }

    @Test func `a script runs too, and a program that others may change does not`() throws {
        let bytes = try ProgramOutput.run(arguments: ["/usr/bin/ldd", "--version"])
        #expect(String(decoding: bytes, as: UTF8.self).hasPrefix("ldd "))
        // The folder of temporary files is open to all.
        let folder = try KeyDirectory()
        try folder.write("program", "#!/bin/sh\necho ran\n", mode: 0o755)
        do throws(ProgramFault) {
            _ = try ProgramOutput.run(arguments: [folder.path + "/program"])
            Issue.record("it ran")
        } catch {
            #expect(error.isMistake && error.clause.contains("which others than its owner can write"), "\(error)")
        }
    }

    @Test func `a program that leaves its process group is killed as well`() {
        let script = "setpgrp(0, getpgrp(getppid)) or die; select(undef, undef, undef, undef)"
        let fault = clause(["/usr/bin/perl", "-e", script], limit: .milliseconds(300))
        #expect(fault == "did not end within 0.3 seconds, and was killed")
    }

    @Test(arguments: [(1_000, nil), (999, "printed more than 999 bytes, and was killed")])
    func `a program may print up to the limit`(bytes: Int, told: String?) {
        let fault = clause(
            shell("head -c 1000 /dev/zero; exec tail -f /dev/null"),
            limit: .milliseconds(300),
            bytes: bytes
        )
        #expect(fault == told ?? "did not end within 0.3 seconds, and was killed")
    }

    @Test func `what hangs is killed with all that it has started, and what ends leaves nothing behind`() throws {
        for end in ["wait", "exit 0"] {
            let script = "tail -f /dev/null & echo $! ; \(end)"
            let fault = clause(shell("trap '' TERM; " + script), limit: .milliseconds(300))
            #expect(fault == (end == "wait" ? "did not end within 0.3 seconds, and was killed" : nil))
        }
        let script = "tail -f /dev/null & printf %s $!"
        let bytes = try ProgramOutput.run(arguments: shell(script), limit: .seconds(60), bytes: 100)
        let child = String(decoding: bytes, as: UTF8.self)
        func isGone() -> Bool {
            let status = WholeFile.text("/proc/\(child)/status") ?? ""
            return !status.contains("tail") || status.contains("zombie")
        }
        #expect(eventually({ isGone() }, until: { $0 }))
    }
}
