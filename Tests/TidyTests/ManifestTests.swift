internal import Testing

@Suite("Dependencies go one way")
struct ManifestTests {
    /// Each module and its allowed dependencies.
    private static let house: [String: Set<String>] = [
        "attest-worker": ["Worker"],
        "Worker": [
            "Gateway", "Broker", "Traffic", "Settings", "HTTP", "HTTPClient", "Kafka", "Pipeline", "Log", "DeviceLab",
            "AppCheck", "AppAttest", "Crypto", "CBOR", "JSON", "Compression", "CCrashMark",
        ],
        "Broker": ["Kafka", "Settings", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto"],
        "Gateway": ["HTTP", "Kafka", "Settings", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON"],
        "HTTP": ["CMicrohttpd"],
        "HTTPClient": ["CCurl"],
        "Traffic": ["DeviceLab", "Log", "AppCheck", "AppAttest", "Crypto", "JSON"],
        "Compression": ["CZlib", "CZstd"],
        "Settings": ["Compression", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON"],
        "Pipeline": ["Log", "AppCheck", "AppAttest", "Crypto", "CBOR", "JSON"],
        "AppCheck": ["AppAttest", "Crypto", "JSON"],
        "AppAttest": ["Crypto", "CBOR"],
        "DeviceLab": ["AppAttest", "Crypto", "CBOR", "JSON"],
        "Kafka": ["CRdkafka", "Log"],
        "Log": [],
        "Crypto": ["COpenSSL", "CBatchVerify"],
        "CBOR": ["CLibCBOR"],
        "JSON": [],
    ]

    private static let libraries: Set<String> = [
        "COpenSSL", "CRdkafka", "CLibCBOR", "CMicrohttpd", "CCurl", "CZlib", "CZstd", "CBatchVerify",
        "CCrashMark",
    ]

    private func manifest() throws -> Manifest { Manifest(text: try #require(SourceTree.text("Package.swift"))) }

    @Test(arguments: house.keys.sorted())
    func `Every module depends only on what lies below it`(module: String) throws {
        let declared = try #require(try manifest().dependencies(of: module))
        let allowed = try #require(Self.house[module])
        #expect(Set(declared).subtracting(allowed) == [])
        #expect(Set(declared).count == declared.count)
    }

    @Test func `Every folder of Sources is a known module, and declared`() throws {
        let declared = Set(try manifest().targets.map(\.name))
        for folder in Set(SourceTree.files.map(\.folder).filter { $0.hasPrefix("Sources/") }) {
            let name = String(folder.dropFirst("Sources/".count))
            #expect(Self.house[name] != nil || Self.libraries.contains(name), "\(name) is unknown")
            #expect(declared.contains(name))
        }
    }

    @Test func `Every Swift target has the strict settings`() throws {
        let text = try #require(SourceTree.text("Package.swift"))
        for setting in [".strictMemorySafety()", ".treatAllWarnings(as: .error)"] { #expect(text.contains(setting)) }
        for target in try manifest().targets where target.kind != "systemLibrary" && !target.name.hasPrefix("C") {
            let hasSettings = ["strict", "core", "hot"].contains { target.text.contains("swiftSettings: \($0)") }
            #expect(hasSettings, "\(target.name) is not strict")
        }
    }

    @Test func `A manifest's targets are read with kind, name and dependencies`() {
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
            ]
            """
        let targets = Manifest(text: text).targets
        #expect(targets.map(\.name) == ["CX", "A", "tool"])
        #expect(targets.map(\.kind) == ["systemLibrary", "target", "executableTarget"])
        #expect(targets.map(\.dependencies) == [[], ["CX"], ["A", "B"]])
    }
}
