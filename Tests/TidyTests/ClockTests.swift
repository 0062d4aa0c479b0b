internal import Testing

@Suite("A landing test waits for progress, not for a time")
struct ClockTests {
    private static let folders = Set(SourceTree.files.filter { $0.isUnder(["Tests/"]) }.map(\.folder))
        .map { String($0.dropFirst("Tests/".count)) }.sorted()

    private func breaches(_ text: String, at path: String = "Tests/KafkaTests/A.swift") -> [Breach] {
        Rules.clocks(SourceFile(path: path, text: text))
    }

    @Test func `no landing test names a clock, a sleep or a time limit`() {
        let breaches = SourceTree.swiftFiles.flatMap(Rules.clocks)
        let list = breaches.map(\.description).joined(separator: "\n")
        #expect(breaches == [], "\(list)\nTests/TestKit/Eventually.swift has what replaces it")
    }

    @Test func `a test that starts itself as another process does not wait for it in the pool`() {
        let breaches = SourceTree.swiftFiles.flatMap(Rules.processesInPool)
        #expect(breaches == [], "\(breaches.map(\.description).joined(separator: "\n"))")
        func lines(_ suite: String, _ test: String) -> [Int] {
            let text = "\(suite)\n\(test) func a() async {\n    await #expect(processExitsWith: .failure) {"
            return Rules.processesInPool(SourceFile(path: "Tests/KafkaTests/A.swift", text: text)).map(\.line)
        }
        #expect(lines("@Suite", "@Test") == [3])
        #expect(lines("@Suite(.waiting)", "@Test") == [] && lines("@Suite", "@Test(.startsItself)") == [])
    }

    /// A new target is the landing's unless Package.swift says otherwise, so it joins the list, which only grows.
    @Test(arguments: folders)
    func `each folder of Tests is the landing's or the soak's`(folder: String) {
        #expect(Rules.landingFolders.contains(folder) != Rules.soakFolders.contains(folder), "\(folder) is on no list")
    }

    @Test func `the lists name folders that exist, and agree with Package.swift`() throws {
        #expect(Rules.landingFolders.union(Rules.soakFolders).subtracting(Self.folders) == [])
        let manifest = Manifest(text: try #require(SourceTree.text("Package.swift")))
        let landing = try #require(manifest.list("tests"))
        #expect(Set(landing.map(\.name)) == Rules.landingFolders)
        let soak = try #require(manifest.list("soakTargets"))
        #expect(Rules.soakFolders.subtracting(soak.map(\.name)) == [])
    }

    @Test(arguments: Rules.clockDoors)
    func `each exception is needed`(path: String) throws {
        let file = try #require(SourceTree.files.first { $0.path == path })
        #expect(!Rules.clocksBeyondDoors(file).isEmpty)
        #expect(Rules.clocks(file).isEmpty)
    }

    @Test(arguments: Rules.clockNames + [".now() + .seconds(1)", ".now"])
    func `each name is found in code, in every landing target, and in no comment or text`(name: String) {
        for folder in Rules.landingFolders {
            #expect(breaches("let a = 1\nlet b = f(\(name))", at: "Tests/\(folder)/A.swift").map(\.line) == [2])
        }
        #expect(breaches("    /// \(name) is not used\nlet a = 1 // \(name)") == [])
        #expect(breaches("let a = \"\(name)\"") == [])
        for folder in Rules.soakFolders { #expect(breaches("f(\(name))", at: "Tests/\(folder)/A.swift") == []) }
        #expect(breaches("f(\(name))", at: "Sources/Worker/A.swift") == [])
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
