internal import Foundation
internal import TestKit
internal import Testing

@testable internal import Settings

@Suite("Files that are read at once, and folders")
struct WholeFileTests {
    private let directory: KeyDirectory

    init() throws { directory = try KeyDirectory() }

    private func path(_ name: String) -> String { "\(directory.path)/\(name)" }

    @Test(arguments: [0, 1, 16 << 10, (16 << 10) + 1, 200_000])
    func `a file is read whole, and a longer one shows that it is longer`(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try directory.write("file", bytes)
        #expect(try WholeFile.read(path("file"), most: 200_000) == bytes)
        #expect(try WholeFile.read(path("file"), most: count) == bytes)
        guard count > 1 else { return }
        #expect(try WholeFile.read(path("file"), most: count - 2).count == count - 1)
    }

    @Test(arguments: ["missing", "."])
    func `what is no file cannot be read`(name: String) {
        #expect(throws: CommandFault.self) { try WholeFile.read(path(name), most: 10) }
        #expect(WholeFile.text(path(name)) == nil)
    }

    @Test func `the kernel's files, which have no size, are read to their end`() throws {
        let text = try #require(WholeFile.text("/proc/self/status"))
        #expect(text.hasPrefix("Name:") && text.contains("\nCpus_allowed:\t"))
    }

    @Test func `folders are made with those around them, and a second time they are there`() throws {
        try Folder.make(path("a/b/c"), mode: 0o700)
        #expect(try directory.mode("a/b/c") == 0o700)
        try Folder.make(path("a/b/c"))
        try directory.write("a/file", "x")
        #expect(throws: CommandFault.self) { try Folder.make(path("a/file")) }
        #expect(throws: CommandFault.self) { try Folder.make(path("a/file/b")) }
        #expect(Folder.names(in: path("a")).sorted() == ["b", "file"])
        #expect(Folder.names(in: path("a/b/c")) == [])
        #expect(Folder.names(in: path("none")) == [])
    }

    @Test func `a folder is removed with all that lies in it, and not what its links point to`() throws {
        let manager = FileManager.default
        try directory.write("kept", "x")
        try Folder.make(path("gone/deep"))
        try directory.write("gone/deep/file", "x")
        try manager.createSymbolicLink(atPath: path("gone/link"), withDestinationPath: path("kept"))
        try manager.createSymbolicLink(atPath: path("gone/up"), withDestinationPath: directory.path)
        Folder.remove(path("gone"))
        #expect(!manager.fileExists(atPath: path("gone")))
        #expect(try directory.text("kept") == "x")
        #expect(manager.fileExists(atPath: path("worker.json")))
    }

    @Test func `folders for a while have names of their own, and this user's rights alone`() throws {
        let made = [try Folder.makeTemporary("attest-worker-test"), try Folder.makeTemporary("attest-worker-test")]
        defer { for path in made { Folder.remove(path) } }
        #expect(made[0] != made[1])
        for path in made {
            let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(rights == 0o700)
        }
    }

    @Test func `a link is followed to its file; what is no link stays`() throws {
        try directory.write("file", "x")
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: "file")
        #expect(LinkTarget.of(path("link")) == LinkTarget.of(path("file")))
        #expect(LinkTarget.of(path("link")).hasSuffix("/file"))
        #expect(LinkTarget.of("/none/at all") == "/none/at all")
    }

    @Test func `a new file that a process of this number left behind is no obstacle`() throws {
        try directory.write("target", "old")
        try directory.write("target.\(getpid()).new", "half")
        try NewFile.replace(path("target"), Array("new".utf8))
        #expect(try directory.text("target") == "new")
    }
}

@Suite("What the system says of this process")
struct SystemTests {
    @Test func `a variable is its value, and nothing where it is not set`() {
        #expect(Variables.value("PATH") == ProcessInfo.processInfo.environment["PATH"])
        #expect(Variables.value("ATTEST_WORKER_NO_SUCH_VARIABLE") == nil)
        #expect(Variables.values("PATH", "ATTEST_WORKER_NO_SUCH_VARIABLE").keys.sorted() == ["PATH"])
    }

    @Test func `the host's name is the kernel's`() throws {
        let name = try #require(WholeFile.text("/proc/sys/kernel/hostname"))
        #expect(HostName.current + "\n" == name)
    }

    @Test func `the clock shows the time of day in milliseconds`() {
        let before = timeOfDay()
        let time = WallClock.milliseconds()
        // A millisecond more on both sides: the other reading is rounded.
        #expect((before - 1...timeOfDay() + 1).contains(time))
    }
}
