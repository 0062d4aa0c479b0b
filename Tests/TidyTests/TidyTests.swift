internal import Testing

@Suite("The sources keep the house rules")
struct TidyTests {
    @Test("There are sources to check", arguments: ["Sources/Crypto", "Sources/Worker", "Tests/TidyTests"])
    func found(folder: String) {
        #expect(SourceTree.files.contains { $0.folder == folder })
    }

    @Test("No file is longer than 500 lines")
    func fileLength() {
        expectNone(SourceTree.files.flatMap(Rules.longFile))
    }

    @Test("No function is longer than 70 lines")
    func functionLength() {
        expectNone(SourceTree.files.flatMap(Rules.longFunctions))
    }

    @Test("Each library is imported only where it belongs")
    func imports() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.foreignImports))
        expectNone(SourceTree.swiftFiles.flatMap(Rules.bareImports))
    }

    @Test("Nothing is public, force-tried, force-cast, a stub or guarded by a Mutex")
    func words() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.bannedCode))
    }

    @Test("No module below the worker reads a clock or a random source")
    func ambient() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.ambientSources))
    }

    @Test("Unsafe code stays with the owners of C handles, the lanes and the byte scans")
    func unsafety() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.strayUnsafe))
    }

    @Test("A record's text never becomes a String")
    func texts() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.textsOfRecords))
    }

    @Test("The program ends without running exit handlers")
    func exitHandlers() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.exitHandlers))
    }

    @Test("The code has no promises of later work")
    func promises() {
        expectNone(SourceTree.files.flatMap(Rules.promises))
    }

    private func expectNone(_ breaches: [Breach], sourceLocation: SourceLocation = #_sourceLocation) {
        let list = breaches.map(\.description).joined(separator: "\n")
        #expect(breaches.isEmpty, Comment(rawValue: list), sourceLocation: sourceLocation)
    }
}
