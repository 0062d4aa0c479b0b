import TestKit
import Testing

@testable import Settings

@Suite("Bytes that a command puts aside")
struct ScratchFileTests {
    private struct Scratch {
        let directory: ConfigurationDirectory
        let file: ScratchFile

        init(memoryBytes: Int) throws {
            directory = try ConfigurationDirectory()
            file = ScratchFile(folder: directory.path, memoryBytes: memoryBytes)
        }
    }

    @Test(arguments: [0, 1, 10, 100, 10_000])
    func `they are read back in any order, from memory and from the file`(memoryBytes: Int) throws {
        let scratch = try Scratch(memoryBytes: memoryBytes)
        var all: [UInt8] = []
        for number in 0..<200 {
            let bytes = [UInt8](repeating: UInt8(number), count: number % 7)
            try scratch.file.append(bytes)
            all += bytes
            guard number % 50 == 0, !all.isEmpty else { continue }
            #expect(try scratch.file.read(0..<all.count) == all)
        }
        #expect(scratch.file.count == all.count)
        for start in stride(from: 0, to: all.count, by: 13) {
            #expect(
                try scratch.file.read(start..<min(all.count, start + 40))
                    == Array(all[start..<min(all.count, start + 40)])
            )
        }
        #expect(
            !Folder.names(in: scratch.directory.path).contains { $0.hasPrefix(".attest-worker") },
            "the file has no name"
        )
    }

    @Test func `a folder that is missing matters only where they are too many for memory`() throws {
        let file = ScratchFile(folder: "/nonexistent", memoryBytes: 10)
        try file.append([UInt8](repeating: 1, count: 10))
        #expect(try file.read(0..<10).count == 10)
        #expect { try file.append([1]) } throws: { "\($0)".contains("cannot create a file in /nonexistent") }
    }
}
