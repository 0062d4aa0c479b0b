import Foundation
import Testing

@testable import Crypto

@Suite("Code that may run beside the keys")
struct CodeFileTests {
    /// A folder of our own with a file in an inner one, removed with its owner.
    private final class Place {
        let top = FileManager.default.temporaryDirectory.path + "/code-" + UUID().uuidString
        var inner: String { top + "/lib" }
        var file: String { inner + "/x.so" }

        init() throws {
            try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
            _ = FileManager.default.createFile(atPath: file, contents: Data("code".utf8))
            for path in [top, inner, file] { try mode(0o755, path) }
        }

        deinit { try? FileManager.default.removeItem(atPath: top) }

        func mode(_ mode: Int, _ path: String) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }

        func fault(_ path: String? = nil) -> CodeFault? {
            do throws(CodeFault) {
                close(try CodeFile.open(path ?? file, below: FileManager.default.temporaryDirectory.path))
                return nil
            } catch { return error }
        }
    }

    @Test func `a file of our own in folders of our own is opened`() throws { #expect(try Place().fault() == nil) }

    @Test(arguments: [0o777, 0o775, 0o2775, 0o757, 0o1777])
    func `a folder anywhere above that others may write is refused, sticky or not`(mode: Int) throws {
        let place = try Place()
        for folder in [place.inner, place.top] {
            try place.mode(mode, folder)
            #expect(place.fault() == .writableFolder(folder, mode: UInt32(mode & 0o777)))
            #expect(place.fault()?.description.contains("chmod go-w \(folder)") == true)
            try place.mode(0o755, folder)
        }
        #expect(place.fault() == nil)
    }

    @Test func `the file's own rights go first`() throws {
        let place = try Place()
        try place.mode(0o777, place.inner)
        try place.mode(0o766, place.file)
        #expect(place.fault() == .writable(mode: 0o766))
    }

    @Test func `a link is followed, and the file and folders that it names are judged`() throws {
        let (place, other) = (try Place(), try Place())
        let (folder, link) = (place.top + "/link", place.inner + "/y.so")
        try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: other.inner)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder + "/x.so")
        #expect(place.fault(folder + "/x.so") == nil && place.fault(link) == nil)
        try other.mode(0o777, other.inner)
        for path in [folder + "/x.so", link] {
            #expect(place.fault(path) == .writableFolder(other.inner, mode: 0o777))
        }
        try other.mode(0o755, other.inner)
        // A user who may write the folder of a link chooses what is loaded.
        try place.mode(0o777, place.inner)
        #expect(place.fault(link) == .writableFolder(place.inner, mode: 0o777))
        try place.mode(0o755, place.inner)
        try place.mode(0o777, place.top)
        #expect(place.fault(folder + "/x.so") == .writableFolder(place.top, mode: 0o777))
        try place.mode(0o755, place.top)
        #expect(place.fault(place.inner + "/../lib/./y.so") == nil)
        try other.mode(0o757, other.file)
        #expect(place.fault(link) == .writable(mode: 0o757))
        try FileManager.default.removeItem(atPath: other.file)
        #expect(place.fault(link) == .missing)
        try FileManager.default.createSymbolicLink(atPath: other.file, withDestinationPath: link)
        #expect(place.fault(link) == .missing, "a ring")
    }

    @Test(arguments: [false, true])
    func `the judged file is loaded, whatever its path, or a link that led to it, names afterwards`(
        isLink: Bool
    ) throws {
        let place = try Place()
        let path = isLink ? place.top + "/y.so" : place.file
        if isLink { try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: place.file) }
        let file = try CodeFile.open(path, below: FileManager.default.temporaryDirectory.path)
        defer { close(file) }
        try FileManager.default.removeItem(atPath: path)
        _ = FileManager.default.createFile(atPath: path, contents: Data("other".utf8))
        #expect(FileManager.default.contents(atPath: "/proc/self/fd/\(file)") == Data("code".utf8))
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `what belongs to another user is refused, root's is not`() throws {
        let place = try Place()
        for path in [place.file, place.inner, place.top] {
            try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
            #expect(place.fault() == .foreign(folder: path == place.file ? nil : path, owner: 65_534))
            try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: path)
        }
        #expect(place.fault() == nil)
    }

    @Test func `folders, FIFOs, missing files and relative paths are refused`() throws {
        let place = try Place()
        #expect(place.fault(place.inner) == .notRegular)
        #expect(place.fault(place.top + "/none") == .missing)
        #expect(place.fault(place.top + "/none/x.so") == .missing)
        #expect(place.fault("x.so") == .notAbsolute)
        let fifo = place.top + "/fifo"
        // The path is copied for the call.
        let made = unsafe mkfifo(fifo, 0o600)
        try #require(made == 0)
        #expect(place.fault(fifo) == .notRegular)
    }
}
