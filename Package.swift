// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// FUZZ=1 instruments what reads hostile bytes for libFuzzer and adds the fuzz targets.
let fuzzing = Context.environment["FUZZ"] != nil
let core = strict + (fuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : [])
// Optimised in debug builds too: unspecialised generics take half of the tests' time, and optimising the others as well
// takes longer than it saves.
let hot = core + [.unsafeFlags(["-O"], .when(configuration: .debug))]

let libraries: [Target] = [
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CLibCBOR", pkgConfig: "libcbor", providers: [.apt(["libcbor-dev"])]),
    .systemLibrary(name: "CRdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])]),
    .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])]),
]

let modules: [Target] = [
    // Signal handlers: what they may do is C's to promise.
    .target(name: "CCrashMark"),
    // Arithmetic on public data, and on the lab's keys, which are no secrets.
    // Optimised in debug builds too: there it is 45 times slower, and tests verify by the hundred thousand.
    .target(name: "CBatchVerify", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]),
    .target(name: "Crypto", dependencies: ["COpenSSL", "CBatchVerify"], swiftSettings: hot),
    .target(name: "CBOR", dependencies: ["CLibCBOR"], swiftSettings: hot),
    .target(name: "JSON", swiftSettings: hot),
    .target(name: "AppAttest", dependencies: ["Crypto", "CBOR"], swiftSettings: hot),
    .target(name: "AppCheck", dependencies: ["AppAttest", "Crypto", "JSON"], swiftSettings: core),
    // The seam: records, positions, and the roles of what lies outside of the pipeline.
    .target(name: "Log", swiftSettings: core),
    .target(
        name: "Pipeline",
        dependencies: ["Log", "AppCheck", "AppAttest", "Crypto", "CBOR", "JSON"],
        swiftSettings: core
    ),
    .target(name: "Kafka", dependencies: ["CRdkafka"], swiftSettings: strict),
    .target(name: "DeviceLab", dependencies: ["AppAttest", "Crypto", "CBOR", "JSON"], swiftSettings: strict),
    .target(name: "Compression", dependencies: ["CZlib", "CZstd"], swiftSettings: strict),
    // Configuration and key files.
    .target(
        name: "Settings",
        dependencies: ["Compression", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON"],
        swiftSettings: strict
    ),
    // Kafka's side of the log, transactions, restores, topics, the ledger's commands.
    .target(
        name: "Broker",
        dependencies: ["Kafka", "Settings", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto"],
        swiftSettings: strict
    ),
    // What fake devices and stock clients send; it knows no broker.
    .target(
        name: "Traffic",
        dependencies: ["DeviceLab", "Log", "AppCheck", "AppAttest", "Crypto", "JSON"],
        swiftSettings: strict
    ),
    .target(name: "HTTP", dependencies: ["CMicrohttpd"], swiftSettings: core),
    // Calls to a gateway, many at once.
    .target(name: "HTTPClient", dependencies: ["CCurl"], swiftSettings: strict),
    // REST in front of the topics.
    .target(
        name: "Gateway",
        dependencies: [
            "HTTP", "Kafka", "Settings", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON",
        ],
        swiftSettings: core
    ),
    .target(
        name: "Worker",
        dependencies: [
            "Gateway", "Broker", "Traffic", "Settings", "HTTP", "HTTPClient", "Compression", "Kafka", "Pipeline", "Log",
            "DeviceLab", "AppCheck", "AppAttest", "Crypto", "JSON", "CCrashMark",
        ],
        swiftSettings: strict
    ),
    .executableTarget(name: "attest-worker", dependencies: ["Worker"], swiftSettings: strict),
]

let tests: [Target] = [
    // Objects, requests, vectors and config directories.
    .target(
        name: "TestKit",
        dependencies: ["Settings", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab"],
        path: "Tests/TestKit",
        // Data, read by path.
        exclude: ["firebase-contract.json"],
        swiftSettings: strict
    ),
    // The loop on logs and lanes in memory, under seeds.
    .target(
        name: "SimulationKit",
        dependencies: ["TestKit", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab"],
        path: "Tests/SimulationKit",
        swiftSettings: strict
    ),
    // Real brokers, the network before them, the program as a process, chaos runs.
    .target(
        name: "BrokerKit",
        dependencies: [
            "TestKit", "Worker", "Broker", "Traffic", "Settings", "Kafka", "Pipeline", "Log", "AppCheck", "AppAttest",
            "Crypto", "JSON", "DeviceLab",
        ],
        path: "Tests/BrokerKit",
        swiftSettings: strict
    ),
    .testTarget(name: "CryptoTests", dependencies: ["Crypto", "CBatchVerify", "TestKit"], swiftSettings: strict),
    .testTarget(name: "CBORTests", dependencies: ["CBOR", "CLibCBOR", "TestKit"], swiftSettings: strict),
    .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: strict),
    .testTarget(
        name: "AppAttestTests",
        dependencies: ["AppAttest", "Crypto", "CBOR", "DeviceLab", "TestKit"],
        swiftSettings: strict
    ),
    .testTarget(
        name: "AppCheckTests",
        dependencies: ["AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab", "TestKit"],
        swiftSettings: strict
    ),
    .testTarget(
        name: "PipelineTests",
        dependencies: [
            "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab", "TestKit", "SimulationKit",
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "DeviceLabTests",
        dependencies: ["DeviceLab", "AppAttest", "Crypto", "CBOR", "JSON", "TestKit"],
        swiftSettings: strict
    ),
    .testTarget(
        name: "SettingsTests",
        dependencies: [
            "Settings", "Compression", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab",
            "TestKit",
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "TrafficTests",
        dependencies: ["Traffic", "Log", "AppCheck", "AppAttest", "JSON", "DeviceLab"],
        swiftSettings: strict
    ),
    .testTarget(name: "CompressionTests", dependencies: ["Compression"], swiftSettings: strict),
    .testTarget(name: "HTTPTests", dependencies: ["HTTP", "TestKit"], swiftSettings: strict),
    .testTarget(name: "HTTPClientTests", dependencies: ["HTTPClient", "HTTP"], swiftSettings: strict),
    .testTarget(
        name: "GatewayTests",
        dependencies: [
            "Gateway", "HTTP", "Kafka", "Settings", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON",
            "DeviceLab", "TestKit", "SimulationKit",
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "KafkaTests",
        // The executable is built beside the tests, which start it.
        dependencies: [
            "attest-worker", "Kafka", "Gateway", "Broker", "Settings", "Worker", "Pipeline", "Log", "AppAttest",
            "Crypto", "JSON", "DeviceLab", "TestKit", "BrokerKit",
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "SimulationTests",
        dependencies: [
            "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab", "TestKit", "SimulationKit",
        ],
        swiftSettings: strict
    ),
    .testTarget(
        name: "WorkerTests",
        // The executable is built beside the tests, which start it.
        dependencies: [
            "attest-worker", "Worker", "Broker", "Traffic", "Settings", "HTTP", "HTTPClient", "Compression", "Kafka",
            "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab", "TestKit", "SimulationKit",
            "BrokerKit",
        ],
        // Scripts, read by path.
        exclude: ["verify_tokens.py", "consume_token.py"],
        swiftSettings: strict
    ),
    .testTarget(
        name: "TidyTests",
        dependencies: ["Worker", "AppCheck", "AppAttest"],
        swiftSettings: strict
    ),
]

let benchmarks: [Target] = [
    // Counts what a thread allocates; only the benchmarks link it.
    .target(name: "CMallocCounter", path: "Benchmarks/MallocCounter"),
    .target(name: "CProcessorProbe", path: "Benchmarks/ProcessorProbe"),
    .executableTarget(
        name: "Benchmarks",
        // OpenSSL itself, as the baseline.
        dependencies: [
            "Worker", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "CBOR", "JSON", "DeviceLab", "COpenSSL",
            "CMallocCounter", "CProcessorProbe",
        ],
        path: "Benchmarks/Suite",
        swiftSettings: strict
    ),
    .executableTarget(
        name: "FuzzLab",
        dependencies: [
            "Gateway", "HTTP", "Kafka", "Settings", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON",
            "DeviceLab",
        ],
        path: "Benchmarks/FuzzLab",
        swiftSettings: strict
    ),
    .executableTarget(
        name: "ChaosLab",
        // The executable is built beside the runner, which starts it.
        dependencies: ["attest-worker", "BrokerKit"],
        path: "Benchmarks/ChaosLab",
        swiftSettings: strict
    ),
    .executableTarget(
        name: "RestoreBench",
        dependencies: ["Settings", "Kafka", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "DeviceLab"],
        path: "Benchmarks/RestoreBench",
        swiftSettings: strict
    ),
    .executableTarget(
        name: "KafkaCopy",
        dependencies: ["Settings", "Broker", "Log", "Kafka", "Pipeline", "AppAttest", "Crypto"],
        path: "Benchmarks/KafkaCopy",
        swiftSettings: strict
    ),
]

func fuzzTarget(_ name: String, _ others: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["FuzzSupport", "Pipeline", "Log", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab"]
            + others,
        path: "Benchmarks/FuzzTargets/\(name)",
        swiftSettings: strict,
        // libFuzzer brings its runtime at the link; gold, the default linker, fails on it.
        linkerSettings: [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
    )
}

let fuzzTargets: [Target] = [
    .target(name: "CLibFuzzer", path: "Benchmarks/FuzzTargets/CLibFuzzer"),
    .target(
        name: "FuzzSupport",
        dependencies: ["CLibFuzzer"],
        path: "Benchmarks/FuzzTargets/FuzzSupport",
        swiftSettings: strict
    ),
    fuzzTarget("FuzzAttestation"),
    fuzzTarget("FuzzAssertion"),
    fuzzTarget("FuzzReceipt"),
    fuzzTarget("FuzzRequest"),
    fuzzTarget("FuzzSignature"),
    fuzzTarget("FuzzGateway", ["Gateway", "HTTP", "Kafka", "Settings"]),
]

/// Names of targets and of all that they need.
func closure(of names: Set<String>, in targets: [Target]) -> Set<String> {
    let needed = targets.filter { names.contains($0.name) }.flatMap(\.dependencies).compactMap { dependency in
        if case .byNameItem(let name, _) = dependency { name } else { nil }
    }
    let all = names.union(needed)
    return all == names ? names : closure(of: all, in: targets)
}

let everything = libraries + modules + tests + benchmarks + (fuzzing ? fuzzTargets : [])
// ONLY_TESTS=A,B leaves out what these tests do not need: for a sanitizer's builds, which run a part.
let chosen = Context.environment["ONLY_TESTS"].map { names in
    closure(of: Set(names.split(separator: ",").map(String.init)), in: everything)
}
let targets = everything.filter { chosen?.contains($0.name) ?? true }
let programs = targets.filter { $0.name == "attest-worker" }.map(\.name)

let package = Package(
    name: "attest-worker",
    products: programs.map { .executable(name: $0, targets: [$0]) },
    targets: targets
)
