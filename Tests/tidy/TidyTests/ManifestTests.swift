internal import Testing

@Suite("Dependencies go one way")
struct ManifestTests {
    private static let libraries: Set<String> = [
        "COpenSSL", "CRdkafka", "CLibCBOR", "CMicrohttpd", "CCurl", "CZlib", "CZstd", "CBatchVerify",
        "CByteScan", "CCrashMark", "CPKCS11", "CProcess",
    ]

    private func manifest() throws -> Manifest { Manifest(text: try #require(SourceTree.text("Package.swift"))) }

    /// A module that holds more of the lines of Sources is several rooms in one.
    private static let mostShare = 0.15

    @Test func `no module holds more than 15 % of Sources`() {
        let sources = SourceTree.files.filter { $0.isUnder(["Sources/"]) }
        let lines = Dictionary(grouping: sources, by: \.folder).mapValues { $0.reduce(0) { $0 + $1.lines.count } }
        let most = Self.mostShare * Double(lines.values.reduce(0, +))
        let large = lines.filter { Double($0.value) > most }
        #expect(large.isEmpty, "\(large) of \(Int(most)) lines at most")
    }

    /// The lists of settings, and the list that each begins with.
    private static let settings = ["strict": "[", "core": "strict", "hot": "core", "whole": "strict"]
    /// Targets of C alone, beside those of `Sources`.
    private static let others: Set<String> = ["CMallocCounter", "CProcessorProbe", "CLibFuzzer"]

    @Test func `every Swift target has the strict settings`() throws {
        let manifest = try manifest()
        for setting in [".strictMemorySafety()", ".treatAllWarnings(as: .error)"] {
            #expect(manifest.code.contains(setting))
        }
        let words = manifest.code.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for (name, first) in Self.settings {
            let starts = ["let \(name) = \(first) ", "let \(name): [SwiftSetting] = \(first)"]
            #expect(starts.contains { words.contains($0) }, "\(name)")
        }
        // The function of fuzz targets has them.
        #expect(manifest.code.contains("let target = executable(name, strict, "))
        let named = manifest.targets.filter { $0.kind != "fuzzTarget" }
        for target in named where !Self.libraries.union(Self.others).contains(target.name) {
            let hasSettings = Self.settings.keys.contains { name in
                ["swiftSettings: \(name)", "\", \(name))", "\", \(name), "].contains { target.text.contains($0) }
            }
            #expect(hasSettings, "\(target.name) is not strict")
        }
    }

    @Test func `what the landing builds needs nothing that only the soak builds`() throws {
        let manifest = try manifest()
        let landing = try ["libraries", "modules", "tests"].flatMap { try #require(manifest.list($0)) }
        let names = Set(landing.map(\.name))
        for target in landing {
            let others = Set(target.dependencies).subtracting(names)
            #expect(others == [], "\(target.name) needs \(others.sorted())")
        }
        let soak = Set(try #require(manifest.list("soakTargets")).map(\.name))
        #expect(soak.isSuperset(of: ["ChaosKit", "EndToEndTests", "Benchmarks"]) && soak.isDisjoint(with: names))
        let fuzz = try #require(manifest.list("fuzzTargets"))
        let shared = try #require(manifest.list("hostileTargets"))
        #expect(landing.count + soak.count + shared.count + fuzz.count == manifest.targets.count)
        #expect(manifest.code.contains("let everything = libraries + modules + tests + (soaking ? soakTargets : [])"))
    }

    @Test func `a manifest's targets are read with kind, name and dependencies, and a list's up to its end`() {
        let text = """
            let a: [Target] = [
                .systemLibrary(name: "CX", pkgConfig: "x", providers: [.apt(["libx-dev"])]),
                .target(name: "A", dependencies: ["CX"], swiftSettings: core),
                // .target(name: "Gone"),
                .executableTarget(
                    name: "tool",
                    dependencies: [
                        "A", "B",
                    ],
                    swiftSettings: strict + (fuzzing ? [.unsafeFlags(["-x"])] : [])
                ),
                testModule("ATests", whole)
                    .needs("A tool")
                    .needs("CX").without("data.txt"),
                executable("B", strict, at: "C/B").needs("A"),
            ]
            let b: [Target] = [
                .target(name: "C")
            ]
            """
        let manifest = Manifest(text: text)
        let kinds = ["systemLibrary", "target", "executableTarget", "testModule", "executable", "target"]
        #expect(manifest.targets.map(\.kind) == kinds)
        #expect(manifest.targets.map(\.dependencies) == [[], ["CX"], ["A", "B"], ["A", "tool", "CX"], ["A"], []])
        #expect(manifest.list("a")?.map(\.name) == ["CX", "A", "tool", "ATests", "B"])
        #expect(manifest.list("b")?.map(\.name) == ["C"] && manifest.list("c") == nil)
    }
}
