import BrokerKit
import CProcess
import CommandFrame
import Commands
import Foundation
import TestKit
import Testing

/// The program without any broker.
@Suite(
    "The program alone",
    .waiting,
    .enabled(if: WorkerBinary.url != nil, "the program is not built")
)
struct ProgramTests {
    @Test func `demo ends with success and names what it does not prove`() throws {
        let folder = try SimulationFolder()
        let demo = try WorkerBinary.run(["demo"], in: folder.path)
        #expect(demo.end == .exit(0), "\(demo.output) \(demo.error)")
        #expect(demo.output.contains("mock broker"))
        #expect(demo.output.contains("mock brokers have no transactions"))
        #expect(demo.output.contains("Every record has its expected outcome."))
        #expect(demo.output.contains(#"verifyAppCheckToken, {} and then {"alreadyConsumed": true}  12"#))
        #expect(demo.output.contains("Its signature verifies with the key set that jwks prints."))
        #expect(demo.output.contains(#""provider":"device_check_app_attest""#), "an example of a token's claims")
        #expect(
            demo.output.contains("The same over HTTP: 12 stock clients") && demo.output.contains("answers: 96 with 200")
        )
        #expect(demo.output.contains("12 connections; no response went to another caller"))
        #expect(demo.output.contains("> POST /v1/projects/") && demo.output.contains("< HTTP/1.1 200"))
        #expect(!demo.output.contains("eyJraWQiOi") && !demo.output.contains("UNEXPECTED"), "never a token itself")
        #expect(demo.error.isEmpty, "\(demo.error)")
    }

    @Test func `simulate with the same directory, seed and start writes the same bytes in every process`() throws {
        let folder = try SimulationFolder()
        func capture(_ name: String, _ more: String...) throws -> [UInt8] {
            let arguments = [
                "--devices", "9", "--records", "200", "--faults", "0.3", "--start", "2026-11-20T12:00:00Z",
            ]
            let output = SimulationFolder.allVerbs + ["--output", folder.file(name)]
            let process = try folder.start("simulate", output + arguments + more)
            try #require(process.waitForEnd() == .exit(0), "\(process.error)")
            return try folder.bytes(name)
        }
        let first = try capture("first", "--new-config")
        #expect(first.count > 50_000)
        #expect(try capture("second") == first)
        #expect(try capture("third", "--seed", "2") != first)
    }

    /// A port that only root may listen on, and where nothing listens.
    private static let nobody = "group.id=alone\nbootstrap.servers=127.0.0.1:1\n"

    @Test func `without a broker check fails with one line, and a run waits until a signal comes`() throws {
        let folder = try SimulationFolder.configured()
        try folder.write(Self.nobody, to: "config/kafka.properties")
        let check = try folder.start("run", ["--check"])
        for number in [SIGTERM, SIGINT] {
            let run = try folder.start("run")
            #expect(run.says("\n"))
            #expect(run.saysOneLine("attest-worker: waiting for the broker: "), "\(run.error)")
            run.signal(number)
            #expect(run.waitForEnd() == .exit(0))
        }
        #expect(check.waitForEnd() == .exit(1))
        #expect(check.saysOneLine("attest-worker: cannot query the broker: "), "\(check.error)")
    }

    @Test func `a signal is never lost, at whatever moment of the start it arrives`() throws {
        let folder = try SimulationFolder.configured()
        try folder.write(Self.nobody, to: "config/kafka.properties")
        let runs = try (1...16).map { turn in
            let run = try folder.start("run")
            pause(milliseconds: turn * 4)
            run.signal(SIGTERM)
            return run
        }
        // Before the program handles the signal itself, the system ends it: that is an end too.
        #expect(eventually({ runs.count(where: \.isRunning) }, until: { $0 == 0 }))
    }

    /// A damaged configuration, and the words that the one line on standard error must have.
    @Test(
        arguments: [
            ("worker.json", #"{"anchors": {"attestation": []}, "topic": {}}"#, "topic"),
            ("worker.json", "{", "worker.json"),
            ("apps.json", #"{"projects": 3}"#, "projects"),
            ("kafka.properties", "bootstrap.servers=127.0.0.1:9\n", "group.id"),
            ("kafka.properties", "group.id=a\nenable.auto.commit=true\n", "enable.auto.commit"),
            ("kafka.properties", "group.id=a\nbootstrap.server=127.0.0.1:9\n", "bootstrap.server"),
            ("kafka.properties", "group.id=a\n", "bootstrap.servers is missing"),
            ("kafka.properties", nobody + "session.timeout.ms=9000\nmax.poll.interval.ms=8000\n", "max.poll.interval"),
            ("kafka.properties", nobody + "security.protocol=ssl\nssl.ca.location=/nowhere\n", "ssl.ca.location"),
            ("anchors/lab-attestation-root.pem", "no certificate", "lab-attestation-root.pem"),
        ]
    )
    func `a configuration fault ends run with exit code 2 and one line`(file: String, text: String, name: String) throws
    {
        let folder = try SimulationFolder.configured()
        try folder.write(text, to: "config/" + file)
        for more in [[], ["--check"]] {
            let process = try folder.start("run", more)
            #expect(process.waitForEnd() == .exit(2))
            #expect(process.saysOneLine("attest-worker: ") && process.error.contains(name), "\(process.error)")
        }
    }
}

@Suite("Memory of the program")
struct ForbiddenDumpTests {
    @Test(.startsItself) func `every command keeps its memory from cores and from processes of its user`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            guard process_forbids_dumps() == 0 else { exit(8) }
            _ = AttestWorker.main(["--version"])
            exit(process_forbids_dumps() == 1 ? 7 : 9)
        }
    }
}
