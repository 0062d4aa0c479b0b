internal import Testing

@Suite("The sources keep the house rules")
struct TidyTests {
    @Test(arguments: ["Sources/verify/Crypto", "Sources/program/Commands", "Tests/tidy/TidyTests"])
    func `there are sources to check`(folder: String) {
        #expect(SourceTree.files.contains { $0.folder == folder })
    }

    @Test func `no file is longer than 500 lines`() {
        expectNone(SourceTree.files.flatMap(Rules.longFile))
    }

    @Test func `no function is longer than 70 lines`() {
        expectNone(SourceTree.files.flatMap(Rules.longFunctions))
    }

    @Test func `each library is imported only where it belongs`() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.foreignImports))
        expectNone(SourceTree.swiftFiles.flatMap(Rules.bareImports))
    }

    @Test func `nothing is visible beyond the package, force-tried, force-cast, a stub or locked by hand`() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.bannedCode))
    }

    @Test func `no module below the worker reads a clock or a random source`() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.ambientSources))
    }

    @Test func `unsafe code stays with the owners of C handles, the lanes and the byte scans`() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.strayUnsafe))
    }

    @Test func `what the compiler does not check to be shared rightly has a lock, an owner, or no variable`() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.sharing))
        expectNone(SourceTree.swiftFiles.flatMap(Rules.bareConfinement))
    }

    @Test func `a record's text never becomes a String`() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.textsOfRecords))
    }

    @Test func `the program ends without running exit handlers`() {
        expectNone(SourceTree.swiftFiles.flatMap(Rules.exitHandlers))
    }

    @Test func `the code has no promises of later work`() {
        expectNone(SourceTree.files.flatMap(Rules.promises))
    }

    @Test func `no doc comment begins with a preposition or a fragment`() {
        expectNone(SourceTree.files.flatMap(Rules.fragments))
    }

    @Test func `comments and messages say "is not a", not "is no"`() {
        expectNone(SourceTree.files.flatMap(Rules.negations))
    }

    @Test func `phrases that read badly become fewer`() {
        for (phrase, most) in Rules.shrinkingPhrases {
            let count = SourceTree.files.reduce(0) { $0 + Rules.lines(with: phrase, in: $1) }
            #expect(count <= most, "\(count) comments with '\(phrase)', \(most) at most: say it in other words")
            #expect(count >= most, "\(count) comments with '\(phrase)': write that number into Rules+Words")
        }
    }

    private func expectNone(_ breaches: [Breach], sourceLocation: SourceLocation = #_sourceLocation) {
        let list = breaches.map(\.description).joined(separator: "\n")
        #expect(breaches.isEmpty, Comment(rawValue: list), sourceLocation: sourceLocation)
    }
}
