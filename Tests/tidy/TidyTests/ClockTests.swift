internal import Testing

@Suite("A landing test waits for progress, not for a time")
struct ClockTests {
    private func breaches(_ text: String, at path: String = "Tests/kafka/KafkaTests/A.swift") -> [Breach] {
        Rules.clocks(SourceFile(path: path, text: text))
    }

    @Test func `a test that starts itself as another process and waits for it in the pool is found`() {
        func lines(_ suite: String, _ test: String) -> [Int] {
            let text = "\(suite)\n\(test) func a() async {\n    await #expect(processExitsWith: .failure) {"
            return Rules.processesInPool(SourceFile(path: "Tests/kafka/KafkaTests/A.swift", text: text)).map(\.line)
        }
        #expect(lines("@Suite", "@Test") == [3])
        #expect(lines("@Suite(.waiting)", "@Test") == [] && lines("@Suite", "@Test(.startsItself)") == [])
    }

    @Test func `the folders that the landing does not build are the soak's, by Package.swift`() throws {
        let manifest = Manifest(text: try #require(SourceTree.text("Package.swift")))
        let landing = Set(try #require(manifest.list("tests")).map(\.name))
        let soak = Set(try #require(manifest.list("soakTargets")).map(\.name))
        let folders = Set(SourceTree.files.filter { $0.isUnder(["Tests/"]) }.map(\.folder))
        // Planted bugs are built in a copy alone.
        for folder in folders where folder != "Tests/world/Mutants" {
            let name = String(folder.split(separator: "/").last ?? "")
            #expect((Rules.soakFolders.contains(folder) ? soak : landing).contains(name), "\(folder)")
        }
        #expect(folders.isSuperset(of: Rules.soakFolders))
    }

    @Test(arguments: Rules.clockDoors)
    func `each exception is needed`(path: String) throws {
        let file = try #require(SourceTree.files.first { $0.path == path })
        #expect(!Rules.clocksBeyondDoors(file).isEmpty)
        #expect(Rules.clocks(file).isEmpty)
    }

    @Test(arguments: Rules.clockNames + [".now() + .seconds(1)", ".now"])
    func `each name is found in code, in every landing target, and in no comment or text`(name: String) {
        #expect(breaches("let a = 1\nlet b = f(\(name))").map(\.line) == [2])
        #expect(breaches("    /// \(name) is not used\nlet a = 1 // \(name)") == [])
        #expect(breaches("let a = \"\(name)\"") == [])
        for folder in Rules.soakFolders { #expect(breaches("f(\(name))", at: "\(folder)/A.swift") == []) }
        #expect(breaches("f(\(name))", at: "Sources/program/Commands/A.swift") == [])
    }

    @Test(
        arguments: [
            ("try await Task.sleep(for: .seconds(1))", 1), ("Thread.sleep(forTimeInterval: 1)", 1), ("sleep(8)", 1),
            ("usleep(100)", 1), ("@Suite(.serialized, .timeLimit(.minutes(1)))", 1), ("let end = Date.now", 1),
            ("queue.asyncAfter(deadline: .now() + 1) {}", 1), ("state = .preparing(since: .now)", 1),
            ("let start: Date = .now", 1), ("let a = \"\\(Date())\"", 1), ("unsafe time(nil)", 1),
            ("pause(milliseconds: 10)", 0), ("let watch = Stopwatch()", 0), ("let age = broker.now - Self.now()", 0),
            ("let figures = Figures.now(start: 1)", 0), ("figures = .now(start: 1)", 0), ("let a = runtime(nil)", 0),
            ("let a = birthDate()", 0), ("isAsleep(worker)", 0), ("Date(timeIntervalSince1970: 0)", 0),
            ("let nowhere = f(.nowhere)", 0), ("let a = pending[0]?.now", 0),
        ]
    )
    func `a name is found however it is used, and not as a part of others`(text: String, count: Int) {
        #expect(breaches(text).count == count)
    }
}
