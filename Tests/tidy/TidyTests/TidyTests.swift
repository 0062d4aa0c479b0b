internal import Testing

@Suite("The sources keep the house rules")
struct TidyTests {
    /// Finds the breaches of a rule in a file.
    typealias Rule = @Sendable (SourceFile) -> [Breach]

    @Test(arguments: ["Sources/verify/Crypto", "Sources/program/Commands", "Tests/tidy/TidyTests"])
    func `there are sources to check`(folder: String) {
        #expect(SourceTree.files.contains { $0.folder == folder })
    }

    @Test(
        arguments: [
            ("no file is longer than 500 lines", Rules.longFile),
            ("no function is longer than 70 lines", Rules.longFunctions),
            ("the code has no promises of later work", Rules.promises),
            ("no doc comment begins with a preposition or a fragment", Rules.fragments),
            (#"comments and messages say "is not a", not "is no""#, Rules.negations),
        ] as [(String, Rule)]
    )
    func `each file of Swift or C keeps a rule of all`(claim: String, rule: Rule) {
        expectNone(SourceTree.files.flatMap(rule), claim)
    }

    @Test(
        arguments: [
            ("each library is imported only where it belongs", Rules.foreignImports),
            ("an import of Sources says how wide it is", Rules.bareImports),
            ("nothing is visible beyond the package, forced, a stub or locked by hand", Rules.bannedCode),
            ("no module below the worker reads a clock or a random source", Rules.ambientSources),
            ("unsafe code stays with the owners of C handles, the lanes and the byte scans", Rules.strayUnsafe),
            ("what the compiler does not check to be shared has a lock, an owner, or no variable", Rules.sharing),
            ("no comment alone confines a class to a thread", Rules.bareConfinement),
            ("a record's text never becomes a String", Rules.textsOfRecords),
            ("the program ends without running exit handlers", Rules.exitHandlers),
            ("no landing test names a clock, a sleep or a time limit: see TestKit/Eventually.swift", Rules.clocks),
            ("a test that starts itself as another process waits for it outside of the pool", Rules.processesInPool),
        ] as [(String, Rule)]
    )
    func `each file of Swift keeps a rule of its own`(claim: String, rule: Rule) {
        expectNone(SourceTree.swiftFiles.flatMap(rule), claim)
    }

    @Test func `phrases that read badly become fewer`() {
        for (phrase, most) in Rules.shrinkingPhrases {
            let count = SourceTree.files.reduce(0) { $0 + Rules.lines(with: phrase, in: $1) }
            #expect(count <= most, "\(count) comments with '\(phrase)', \(most) at most: say it in other words")
            #expect(count >= most, "\(count) comments with '\(phrase)': write that number into Rules+Words")
        }
    }

    private func expectNone(_ breaches: [Breach], _ claim: String) {
        let list = breaches.map(\.description).joined(separator: "\n")
        #expect(breaches.isEmpty, "\(claim):\n\(list)")
    }
}
