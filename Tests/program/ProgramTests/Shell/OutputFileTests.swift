import Foundation
import Settings
import TestKit
import Testing

@testable import BrokerKit
@testable import CommandFrame

@Suite("output files")
struct OutputFileTests {
    private let folder: SimulationFolder

    init() throws { folder = try SimulationFolder() }

    private var path: String { folder.file("out") }

    private func write(
        _ text: String,
        _ placement: OutputFile.Placement,
        holds content: OutputFile.Content = .plain
    ) throws {
        let file = try OutputFile(path, placement, holds: content)
        try file.write(Array(text.utf8))
        try file.close()
    }

    private var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path) } }

    private func mode(of path: String) throws -> mode_t {
        var status = stat()
        try #require(unsafe lstat(path, &status) == 0)
        return status.st_mode
    }

    @Test(arguments: [false, true])
    func `a regular file has the written bytes, and no temporary file is left`(whole: Bool) throws {
        try write("old and longer", whole ? .whole : .inPlace)
        try write("new", whole ? .whole : .inPlace)
        #expect(try folder.text("out") == "new")
        #expect(try names == ["out"])
    }

    @Test func `what a process of this number left behind is no obstacle to a whole file`() throws {
        try folder.write("half", to: "out.\(getpid()).new")
        try write("new", .whole)
        #expect(try folder.text("out") == "new" && names == ["out"])
    }

    @Test func `a whole file keeps its old bytes until the new one is closed, and keeps them if it never is`() throws {
        try write("old", .whole)
        do {
            let file = try OutputFile(path, .whole)
            try file.write(Array("half".utf8))
            #expect(try folder.text("out") == "old")
        }
        #expect(try folder.text("out") == "old")
        #expect(try names == ["out"])
    }

    @Test(arguments: [false, true], [false, true])
    func `a link stays a link, and its target gets the bytes`(whole: Bool, exists: Bool) throws {
        if exists { try folder.write("old and longer", to: "target") }
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: folder.file("target"))
        try write("new", whole ? .whole : .inPlace)
        #expect(try mode(of: path) & S_IFMT == S_IFLNK)
        #expect(try folder.text("target") == "new")
    }

    @Test(arguments: [false, true])
    func `a FIFO stays a FIFO, and its reader gets the bytes`(whole: Bool) throws {
        try #require(unsafe mkfifo(path, 0o600) == 0)
        // Opened for both ways, so that neither end waits for the other.
        let reader = unsafe open(path, O_RDWR | O_NONBLOCK)
        defer { close(reader) }
        try write("new", whole ? .whole : .inPlace)
        #expect(try mode(of: path) & S_IFMT == S_IFIFO)
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = unsafe read(reader, &bytes, bytes.count)
        #expect(Array(bytes.prefix(max(0, count))) == Array("new".utf8))
    }

    @Test(arguments: [false, true])
    func `a device stays a device`(whole: Bool) throws {
        let before = try mode(of: "/dev/null")
        let file = try OutputFile("/dev/null", whole ? .whole : .inPlace, holds: .secret)
        try file.write([1, 2, 3])
        try file.close()
        #expect(try mode(of: "/dev/null") == before)
        #expect(before & S_IFMT == S_IFCHR)
    }

    @Test(arguments: [false, true])
    func `secrets are readable by their owner only, even if the file was open to others`(whole: Bool) throws {
        try folder.write("old", to: "out")
        try #require(unsafe chmod(path, 0o644) == 0)
        try write("new", whole ? .whole : .inPlace, holds: .secret)
        #expect(try mode(of: path) & 0o777 == 0o600)
    }

    @Test func `a full disk and a missing folder are reported in one line with the system's reason`() throws {
        let full = try OutputFile("/dev/full")
        #expect(throws: CommandFault("cannot write /dev/full: No space left on device.")) { try full.write([1]) }
        let missing = folder.file("none/out")
        #expect(throws: CommandFault("cannot write \(missing): No such file or directory.")) {
            _ = try OutputFile(missing, .whole)
        }
    }
}

@Suite("standard output", .waiting)
struct StandardOutputTests {
    private static let isBuilt = WorkerBinary.url != nil

    /// Commands that succeed where their output arrives.
    static let commands = [
        ["jwks", "--config", "config"],
        ["rollout", "--config", "config", "--input", "events"],
        ["rollout", "--config", "config", "--input", "events", "--json"],
        ["challenge", "--config", "config", "--app", "projects/lab-project/apps/1:123456789012:ios:0123456789abcdef"],
        ["new-keys", "--config", "config", "--add"], ["--version"], ["help"],
        ["replay", "--config", "config", "--input", "capture.ndjson", "--output", "out"],
        ["simulate", "--config", "config", "--devices", "2", "--records", "4", "--output", "-"],
    ]

    private func folder() throws -> SimulationFolder {
        let folder = try SimulationFolder.configured()
        _ = try folder.capture(["--devices", "1", "--records", "2"])
        try folder.write(MadeEvent.capture([MadeEvent()]), to: "events")
        return folder
    }

    private func run(
        _ arguments: [String],
        in folder: SimulationFolder,
        into place: String
    ) throws -> (code: Int32, error: String) {
        let program = try #require(WorkerBinary.url).path()
        let script = "cd '\(folder.path)' && \"$0\" \"$@\" \(place)"
        let run = PythonLab.run(["sh", "-c", script, program] + arguments)
        return (run.code, run.error)
    }

    @Test(.enabled(if: isBuilt))
    func `a full disk behind standard output ends with one line and exit code 1`() throws {
        let folder = try folder()
        for command in Self.commands {
            #expect(try run(command, in: folder, into: "> /dev/null").code == 0, "\(command)")
            let full = try run(command, in: folder, into: "> /dev/full")
            let said = full.error.contains("cannot write to standard output: No space left on device.")
            #expect(full.code == 1 && said, "\(command): \(full)")
        }
    }

    @Test(.enabled(if: isBuilt))
    func `a reader that closes the pipe causes no message`() throws {
        let folder = try folder()
        for command in Self.commands {
            #expect(try run(command, in: folder, into: "| true").error.contains("cannot") == false, "\(command)")
        }
    }
}
