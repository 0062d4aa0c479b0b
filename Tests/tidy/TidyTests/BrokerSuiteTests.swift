internal import Testing

@Suite(".ci/soak runs every suite that starts real brokers, and sanitizers build what there is")
struct BrokerSuiteTests {
    /// What the soak reads, in one text; the stages may stand in a file of their own.
    private static func soak() throws -> String {
        let files = [".ci/soak", ".ci/soak-stages"].compactMap(SourceTree.text)
        try #require(!files.isEmpty, "there is no .ci/soak")
        return files.joined(separator: "\n")
    }

    /// Lists of a script, by name: `suites_a='A|B'` and `suites_a+='|C'`, or `targets=A,B` and `targets+=,C`.
    static func lists(_ prefix: String, in script: String) -> [String: [String]] {
        script.split(separator: "\n").filter { $0.hasPrefix(prefix) }.reduce(into: [:]) { lists, line in
            guard let sign = line.firstIndex(of: "=") else { return }
            let name = line[..<sign].last == "+" ? line[..<sign].dropLast() : line[..<sign]
            guard name.allSatisfy({ $0.isLetter || $0.isNumber || "_-".contains($0) }) else { return }
            let names = line[sign...].dropFirst().split { "'\"|,".contains($0) }.map(String.init)
            lists[String(name), default: []] += names
        }
    }

    /// The types that follow a `.brokerTests` trait.
    private static func suites(in file: SourceFile) -> [String] {
        let marks = file.code.indices.filter {
            file.code[$0].split(separator: " ").contains { $0.hasPrefix(".brokerTests") }
        }
        return marks.compactMap { mark in
            let line = file.code[mark...].first { $0.hasPrefix("struct ") }
            return line.map { String($0.split(separator: " ")[1].prefix { $0 != ":" }) }
        }
    }

    private static func suites(under folder: String) -> [String] {
        SourceTree.swiftFiles.filter { $0.isUnder([folder]) }.flatMap(Self.suites)
    }

    @Test func `the groups of suites list each of these suites once, and no other`() throws {
        let groups = Self.lists("suites_", in: try Self.soak())
        let suites = Self.suites(under: "Tests/").filter { $0 != "SmokeTests" }
        #expect(suites.count > 10)
        #expect(groups.values.flatMap { $0 }.sorted() == suites.sorted())
    }

    @Test func `a stage runs each group`() throws {
        let script = try Self.soak()
        let stages = script.split(separator: "\n").filter { !$0.hasPrefix("suites_") }.joined(separator: "\n")
        for group in Self.lists("suites_", in: script).keys {
            #expect(stages.contains("$\(group)\"") || stages.contains("${\(group)}"), "no stage runs \(group)")
        }
    }

    @Test func `the landing runs SmokeTests on brokers, and the soak looks for the others where they are`() throws {
        let landing = try #require(SourceTree.text(".ci/run")).split(separator: "\n")
        #expect(landing.contains { $0.contains("BROKER_TESTS=1") && $0.contains("SmokeTests") })
        let elsewhere = Self.suites(under: "Tests/").count - Self.suites(under: "Tests/brokers/EndToEndTests/").count
        #expect(elsewhere == Self.suites(under: "Tests/brokers/SmokeTests/").count)
    }

    @Test(arguments: ["thread_targets", "address_targets"])
    func `each target that a sanitizer builds exists`(list: String) throws {
        let names = try #require(Self.lists(list, in: try Self.soak())[list])
        let manifest = Manifest(text: try #require(SourceTree.text("Package.swift")))
        #expect(names.count > 5)
        #expect(Set(names).subtracting(manifest.targets.map(\.name)) == [])
    }

    @Test func `a list is read over its lines, and calls are none`() {
        let script = """
            # suites_gone='X'
            suites_a='A|B'
            suites_b='C'
            suites_a+='|D'
            stage_a() { broker_tests "$suites_a" x=1; }
            """
        #expect(Self.lists("suites_", in: script) == ["suites_a": ["A", "B", "D"], "suites_b": ["C"]])
        #expect(Self.lists("targets", in: "targets=A,B\ntargets+=,C") == ["targets": ["A", "B", "C"]])
    }
}
