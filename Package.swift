// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let inDebug = BuildSettingCondition.when(configuration: .debug)
// COLD=1, for a build from nothing: what few others wait for is compiled as a whole, in three quarters of the time. After
// a small change, file by file is faster.
let isCold = Context.environment["COLD"] != nil
let asWhole = ["-wmo", "-num-threads", "1", "-no-emit-module-separately-wmo", "-gnone"]
let whole = strict + (isCold ? [.unsafeFlags(asWhole, inDebug)] : [])

// FUZZ=1 instruments what reads hostile bytes for libFuzzer and adds the fuzz targets.
let fuzzing = Context.environment["FUZZ"] != nil
// SOAK=1 adds what takes real brokers, faults and hours, and what measures: `swift test` builds and runs none of it.
let soaking = Context.environment["SOAK"] != nil
let core = strict + (fuzzing ? [.unsafeFlags(["-sanitize=fuzzer"])] : [])
// Optimised in debug builds too: unspecialised generics take half of the tests' time, and optimising the others as well
// takes longer than it saves.
let hot = core + [.unsafeFlags(["-O"], inDebug)]

// The tables of calls are read-only once the program runs. Debian 13's own linker leaves them writable.
let hardened = ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "relro", "-Xlinker", "-z", "-Xlinker", "now"]

/// The targets of a wing, each in its folder. `Sources/WING/Wing.txt` says what the wing is for.
func wing(_ name: String, _ targets: Target...) -> [Target] {
    for target in targets { target.path = "Sources/\(name)/\(target.name)" }
    return targets
}

func testWing(_ name: String, _ targets: Target...) -> [Target] {
    for target in targets { target.path = "Tests/\(name)/\(target.name)" }
    return targets
}

let libraries: [Target] = [
    wing(
        "ground",
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])])
    ),
    wing(
        "verify",
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibCBOR", pkgConfig: "libcbor", providers: [.apt(["libcbor-dev"])])
    ),
    wing(
        "kafka",
        .systemLibrary(name: "CRdkafka", pkgConfig: "rdkafka", providers: [.apt(["librdkafka-dev"])])
    ),
    wing(
        "serve",
        .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])])
    ),
].flatMap { $0 }

let modules: [Target] = [
    wing(
        "ground",
        .target(name: "Threads", swiftSettings: core),
        .target(name: "Compression", dependencies: ["CZlib", "CZstd"], swiftSettings: whole)
    ),
    wing(
        "verify",
        .target(name: "CPKCS11"),
        // Arithmetic on public data, and on the lab's keys, which are no secrets.
        // Optimised in debug builds too: there it is 45 times slower, and tests verify by the hundred thousand.
        .target(name: "CBatchVerify", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]),
        .target(name: "Crypto", dependencies: ["COpenSSL", "CBatchVerify", "CPKCS11", "Threads"], swiftSettings: hot),
        .target(name: "CBOR", dependencies: ["CLibCBOR"], swiftSettings: hot),
        .target(name: "JSON", swiftSettings: hot),
        .target(name: "AppAttest", dependencies: ["Crypto", "CBOR"], swiftSettings: core),
        .target(name: "AppCheck", dependencies: ["AppAttest", "Crypto", "JSON"], swiftSettings: core)
    ),
    wing(
        "judge",
        .target(name: "Streams", swiftSettings: core),
        .target(
            name: "Pipeline",
            dependencies: ["Threads", "Streams", "AppCheck", "AppAttest", "Crypto", "CBOR", "JSON"],
            swiftSettings: core
        )
    ),
    wing(
        "settings",
        .target(
            name: "Settings",
            dependencies: ["Compression", "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON"],
            swiftSettings: strict
        )
    ),
    wing(
        "kafka",
        .target(name: "KafkaPorts", dependencies: ["Streams"], swiftSettings: strict),
        .target(name: "Kafka", dependencies: ["KafkaPorts", "Threads", "Streams", "CRdkafka"], swiftSettings: whole),
        .target(name: "Member", dependencies: ["KafkaPorts", "Streams", "Pipeline"], swiftSettings: strict),
        .target(
            name: "Broker",
            dependencies: [
                "Member", "Settings", "Kafka", "KafkaPorts", "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest",
                "Crypto", "JSON",
            ],
            swiftSettings: strict
        )
    ),
    wing(
        "serve",
        .target(name: "CCrashMark"),
        .target(name: "CProcess"),
        .target(name: "HTTP", dependencies: ["Threads", "CMicrohttpd"], swiftSettings: core),
        .target(
            name: "Gateway",
            dependencies: [
                "Broker", "Settings", "HTTP", "Kafka", "KafkaPorts", "Pipeline", "Threads", "Streams", "AppCheck",
                "AppAttest", "Crypto", "JSON",
            ],
            swiftSettings: core
        ),
        .target(
            name: "Telemetry",
            dependencies: [
                "Gateway", "Member", "Settings", "HTTP", "Kafka", "KafkaPorts", "Pipeline", "Threads", "Streams",
                "AppCheck", "AppAttest", "Crypto", "JSON",
            ],
            swiftSettings: whole
        ),
        .target(name: "HTTPClient", dependencies: ["Threads", "CCurl"], swiftSettings: whole),
        .target(
            name: "CommandFrame",
            dependencies: ["Telemetry", "Settings", "Compression", "Threads"],
            swiftSettings: whole
        ),
        .target(
            name: "Run",
            dependencies: [
                "CommandFrame", "Telemetry", "Gateway", "Broker", "Member", "Settings", "HTTP", "Kafka", "KafkaPorts",
                "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest", "Crypto", "CCrashMark",
            ],
            swiftSettings: whole
        )
    ),
    wing(
        "refresh",
        .target(name: "Risk", dependencies: ["AppAttest", "Crypto", "JSON"], swiftSettings: core),
        .target(
            name: "Refresher",
            dependencies: [
                "Run", "CommandFrame", "Telemetry", "Gateway", "Broker", "Member", "Settings", "Risk", "HTTP",
                "HTTPClient", "Kafka", "KafkaPorts", "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest",
                "Crypto", "JSON",
            ],
            swiftSettings: whole
        )
    ),
    wing(
        "study",
        .target(
            name: "Reports",
            dependencies: ["Settings", "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON"],
            swiftSettings: whole
        ),
        .target(
            name: "Study",
            dependencies: [
                "Run", "CommandFrame", "Telemetry", "Broker", "Reports", "Settings", "HTTPClient", "Kafka",
                "KafkaPorts", "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON",
            ],
            swiftSettings: whole
        )
    ),
    wing(
        "lab",
        .target(
            name: "DeviceLab",
            dependencies: ["AppAttest", "Crypto", "JSON"],
            swiftSettings: whole
        ),
        .target(
            name: "Traffic",
            dependencies: ["Threads", "Streams", "DeviceLab", "AppCheck", "AppAttest", "Crypto", "JSON"],
            swiftSettings: whole
        ),
        .target(
            name: "Lab",
            dependencies: [
                "Study", "Refresher", "Run", "CommandFrame", "Telemetry", "Gateway", "Broker", "Member", "Traffic",
                "Reports", "Settings", "Risk", "HTTP", "HTTPClient", "Kafka", "KafkaPorts", "Pipeline", "Threads",
                "Streams", "DeviceLab", "AppCheck", "AppAttest", "Crypto", "JSON",
            ],
            swiftSettings: whole
        )
    ),
    wing(
        "program",
        .target(
            name: "Commands",
            dependencies: [
                "Lab", "Study", "Refresher", "Run", "CommandFrame", "Telemetry", "Broker", "Traffic", "Reports",
                "Settings", "Risk", "HTTP", "HTTPClient", "Kafka", "KafkaPorts", "Pipeline", "Streams", "DeviceLab",
                "AppCheck", "AppAttest", "Crypto", "JSON", "CProcess",
            ],
            swiftSettings: whole
        ),
        .executableTarget(
            name: "attest-worker",
            dependencies: ["Commands", "CommandFrame"],
            swiftSettings: whole,
            linkerSettings: [.unsafeFlags(hardened, .when(configuration: .release))]
        )
    ),
].flatMap { $0 }

let tests: [Target] = [
    testWing(
        "ground",
        .testTarget(name: "CompressionTests", dependencies: ["Compression"], swiftSettings: whole)
    ),
    testWing(
        "verify",
        .testTarget(name: "CryptoTests", dependencies: ["Crypto", "CBatchVerify", "TestKit"], swiftSettings: whole),
        .testTarget(name: "CBORTests", dependencies: ["CBOR", "CLibCBOR", "TestKit"], swiftSettings: whole),
        .testTarget(name: "JSONTests", dependencies: ["JSON"], swiftSettings: whole),
        .testTarget(
            name: "AppAttestTests",
            dependencies: ["AppAttest", "Crypto", "CBOR", "DeviceLab", "TestKit"],
            swiftSettings: whole
        ),
        .testTarget(
            name: "AppCheckTests",
            dependencies: ["AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab", "TestKit"],
            swiftSettings: whole
        )
    ),
    testWing(
        "judge",
        .testTarget(
            name: "PipelineTests",
            dependencies: [
                "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab", "TestKit",
                "SimulationKit",
            ],
            swiftSettings: whole
        )
    ),
    testWing(
        "settings",
        .testTarget(
            name: "SettingsTests",
            dependencies: [
                "Settings", "Compression", "Pipeline", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON",
                "DeviceLab", "TestKit",
            ],
            swiftSettings: whole
        )
    ),
    testWing(
        "kafka",
        // Clients on librdkafka's mock cluster.
        .target(
            name: "KafkaKit",
            dependencies: ["TestKit", "Kafka", "KafkaPorts"],
            swiftSettings: whole
        ),
        .testTarget(
            name: "MemberTests",
            dependencies: ["Member", "KafkaPorts", "Streams", "Pipeline", "TestKit", "SimulationKit"],
            swiftSettings: whole
        ),
        .testTarget(
            name: "KafkaTests",
            dependencies: ["Kafka", "KafkaPorts", "Gateway", "Pipeline", "Threads", "Streams", "TestKit", "KafkaKit"],
            swiftSettings: whole
        ),
        .testTarget(
            name: "BrokerTests",
            dependencies: [
                "Commands", "Broker", "Member", "Settings", "Kafka", "KafkaPorts", "Pipeline", "Threads", "Streams",
                "DeviceLab", "AppCheck", "AppAttest", "Crypto", "JSON", "TestKit", "SimulationKit", "KafkaKit",
                "BrokerKit",
            ],
            swiftSettings: whole
        )
    ),
    testWing(
        "serve",
        .testTarget(name: "HTTPClientTests", dependencies: ["HTTPClient", "HTTP", "TestKit"], swiftSettings: whole),
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", "TestKit"], swiftSettings: whole),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Gateway", "HTTP", "Kafka", "KafkaPorts", "Settings", "Pipeline", "Threads", "Streams", "AppCheck",
                "AppAttest", "Crypto", "JSON", "DeviceLab", "TestKit", "SimulationKit",
            ],
            swiftSettings: whole
        ),
        .testTarget(
            name: "TelemetryTests",
            dependencies: [
                "Telemetry", "Gateway", "Member", "Settings", "HTTP", "Kafka", "KafkaPorts", "Pipeline", "Threads",
                "Streams", "AppCheck", "AppAttest", "JSON", "DeviceLab", "TestKit",
            ],
            swiftSettings: whole
        )
    ),
    testWing(
        "refresh",
        // A month of receipts in memory, and Apple's answers, under seeds.
        .target(
            name: "RiskKit",
            dependencies: [
                "Risk", "Refresher", "Gateway", "Telemetry", "Kafka", "KafkaPorts", "Streams", "AppAttest", "Crypto",
                "JSON", "DeviceLab", "SimulationKit",
            ],
            swiftSettings: whole
        ),
        .testTarget(
            name: "RiskTests",
            dependencies: ["Risk", "RiskKit", "AppAttest", "Crypto", "JSON", "DeviceLab", "TestKit"],
            swiftSettings: whole
        ),
        .testTarget(
            name: "RefresherTests",
            dependencies: [
                "Refresher", "Risk", "Lab", "Gateway", "Telemetry", "Settings", "HTTP", "HTTPClient", "Kafka",
                "KafkaPorts",
                "Streams", "Threads", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab", "TestKit", "RiskKit",
                "SimulationKit", "KafkaKit",
            ],
            swiftSettings: whole
        )
    ),
    testWing(
        "study",
        .testTarget(
            name: "ReportsTests",
            dependencies: [
                "Reports", "Settings", "Pipeline", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab",
                "TestKit",
            ],
            swiftSettings: whole
        )
    ),
    testWing(
        "lab",
        .testTarget(
            name: "DeviceLabTests",
            dependencies: ["DeviceLab", "AppAttest", "Crypto", "CBOR", "JSON", "TestKit"],
            swiftSettings: whole
        ),
        .testTarget(
            name: "TrafficTests",
            dependencies: ["Traffic", "Streams", "AppCheck", "AppAttest", "JSON", "DeviceLab"],
            swiftSettings: whole
        )
    ),
    testWing(
        "program",
        .testTarget(
            name: "ProgramTests",
            dependencies: [
                "Commands", "Lab", "Study", "Refresher", "Run", "CommandFrame", "Telemetry", "Gateway", "Broker",
                "Member", "Traffic", "Reports", "Settings", "Risk", "HTTP", "HTTPClient", "Compression", "Kafka",
                "KafkaPorts", "Pipeline", "Threads", "Streams", "DeviceLab", "AppCheck", "AppAttest", "Crypto", "JSON",
                "CProcess", "TestKit", "SimulationKit", "BrokerKit",
            ],
            swiftSettings: whole
        )
    ),
    testWing(
        "world",
        // Objects, requests, vectors, config directories, and waits.
        .target(
            name: "TestKit",
            dependencies: [
                "Settings", "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab",
            ],
            // Data and scripts, read by path.
            exclude: ["firebase-contract.json", "verify_tokens.py", "consume_token.py"],
            swiftSettings: whole
        ),
        // The loop on streams and lanes in memory, under seeds.
        .target(
            name: "SimulationKit",
            dependencies: [
                "TestKit", "Broker", "Member", "Settings", "KafkaPorts", "Pipeline", "Streams", "AppCheck", "AppAttest",
                "Crypto", "JSON", "DeviceLab",
            ],
            swiftSettings: whole
        ),
        // Scripts of what client library and brokers do, played by several worlds.
        .target(
            name: "ContractKit",
            dependencies: [
                "TestKit", "SimulationKit", "KafkaKit", "BrokerKit", "Broker", "Settings", "Member", "Kafka",
                "KafkaPorts", "Pipeline", "Streams", "DeviceLab",
            ],
            // Data, read by path.
            exclude: ["World/Outcomes.txt"],
            swiftSettings: whole
        ),
        .testTarget(
            name: "SimulationTests",
            dependencies: [
                "Member", "KafkaPorts", "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON",
                "DeviceLab", "TestKit", "SimulationKit", "RiskKit", "Risk",
            ],
            // Data, read by path.
            exclude: ["Seeds.txt"],
            swiftSettings: whole
        ),
        .testTarget(
            name: "ContractTests",
            dependencies: [
                "ContractKit", "BrokerKit", "SimulationKit", "TestKit", "Broker", "Settings", "Kafka", "KafkaPorts",
                "Streams",
            ],
            swiftSettings: whole
        )
    ),
    testWing(
        "brokers",
        // Members on mock and real clusters, real brokers, the program as a process.
        .target(
            name: "BrokerKit",
            dependencies: [
                "KafkaKit", "TestKit", "SimulationKit", "Broker", "Member", "Settings", "Kafka", "KafkaPorts",
                "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab",
            ],
            // Built by a chaos run, with the machine's compiler.
            exclude: ["Clock/clock_shim.c"],
            swiftSettings: whole
        ),
        // Ten promises on one real broker.
        .testTarget(
            name: "SmokeTests",
            dependencies: [
                "Broker", "Settings", "Kafka", "KafkaPorts", "Pipeline", "Streams", "JSON", "TestKit", "KafkaKit",
                "BrokerKit",
            ],
            swiftSettings: whole
        )
    ),
    testWing(
        "tidy",
        .testTarget(
            name: "TidyTests",
            dependencies: ["Commands", "CommandFrame", "Telemetry", "Reports", "AppCheck", "AppAttest"],
            swiftSettings: whole
        )
    ),
].flatMap { $0 }

// Hostile clients of a gateway without a broker, and what they may get: driven by seeds or by libFuzzer.
let hostileTargets: [Target] = [
    .target(
        name: "HostileHTTP",
        dependencies: [
            "Gateway", "HTTP", "Kafka", "KafkaPorts", "Settings", "Pipeline", "Threads", "Streams", "AppCheck",
            "AppAttest", "Crypto", "JSON",
        ],
        path: "Benchmarks/HostileHTTP",
        swiftSettings: strict
    )
]

// Built for `.ci/soak` and for measurements only.
let soakTargets: [Target] = [
    // The network before real brokers, chaos runs and their checker.
    .target(
        name: "ChaosKit",
        dependencies: [
            "Lab", "Broker", "Traffic", "Settings", "Risk", "Kafka", "KafkaPorts", "Pipeline", "Threads", "Streams",
            "DeviceLab", "AppCheck", "AppAttest", "Crypto", "JSON", "TestKit", "BrokerKit",
        ],
        path: "Tests/brokers/ChaosKit",
        swiftSettings: whole
    ),
    .testTarget(
        name: "EndToEndTests",
        dependencies: [
            "Commands", "Lab", "Broker", "Member", "Traffic", "Settings", "HTTP", "HTTPClient", "Kafka", "KafkaPorts",
            "Pipeline", "Threads", "Streams", "DeviceLab", "AppCheck", "AppAttest", "Crypto", "JSON", "TestKit",
            "SimulationKit", "KafkaKit", "BrokerKit", "ContractKit", "ChaosKit",
        ],
        path: "Tests/brokers/EndToEndTests",
        // Built by the suite itself, with the machine's compiler.
        exclude: ["HSM/unsteady_token.c"],
        swiftSettings: whole
    ),
    // Counts what a thread allocates; only the benchmarks link it.
    .target(name: "CMallocCounter", path: "Benchmarks/MallocCounter"),
    .target(name: "CProcessorProbe", path: "Benchmarks/ProcessorProbe"),
    .executableTarget(
        name: "Benchmarks",
        // OpenSSL itself, as the baseline.
        dependencies: [
            "Commands", "CommandFrame", "Reports", "Settings", "Pipeline", "Threads", "Streams", "DeviceLab",
            "AppCheck", "AppAttest", "Crypto", "CBOR", "JSON", "COpenSSL", "CMallocCounter", "CProcessorProbe",
        ],
        path: "Benchmarks/Suite",
        swiftSettings: strict
    ),
    .executableTarget(
        name: "FuzzLab",
        dependencies: [
            "HostileHTTP", "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab",
        ],
        path: "Benchmarks/FuzzLab",
        swiftSettings: strict
    ),
    .executableTarget(
        name: "ChaosLab",
        // The executable is built beside the runner, which starts it.
        dependencies: ["attest-worker", "BrokerKit", "ChaosKit"],
        path: "Benchmarks/ChaosLab",
        swiftSettings: strict
    ),
    .executableTarget(
        name: "RestoreBench",
        dependencies: [
            "Settings", "Kafka", "KafkaPorts", "Pipeline", "Threads", "Streams", "AppCheck", "AppAttest", "Crypto",
            "DeviceLab",
        ],
        path: "Benchmarks/RestoreBench",
        swiftSettings: strict
    ),
    .executableTarget(
        name: "KafkaCopy",
        dependencies: ["Settings", "Broker", "Member", "Streams", "Kafka", "Pipeline", "AppAttest", "Crypto"],
        path: "Benchmarks/KafkaCopy",
        swiftSettings: strict
    ),
]

func fuzzTarget(_ name: String, _ others: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["FuzzSupport", "Pipeline", "Streams", "AppCheck", "AppAttest", "Crypto", "JSON", "DeviceLab"]
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
    fuzzTarget("FuzzReceipt", ["Risk"]),
    fuzzTarget("FuzzRequest", ["Risk"]),
    fuzzTarget("FuzzSignature"),
    fuzzTarget("FuzzGateway", ["HostileHTTP"]),
]

/// Names of targets and of all that they need.
func closure(of names: Set<String>, in targets: [Target]) -> Set<String> {
    let needed = targets.filter { names.contains($0.name) }.flatMap(\.dependencies).compactMap { dependency in
        if case .byNameItem(let name, _) = dependency { name } else { nil }
    }
    let all = names.union(needed)
    return all == names ? names : closure(of: all, in: targets)
}

let fuzzed = (fuzzing ? fuzzTargets : []) + (soaking || fuzzing ? hostileTargets : [])
let everything = libraries + modules + tests + (soaking ? soakTargets : []) + fuzzed
// ONLY_TESTS=A,B leaves out what these tests do not need: for a sanitizer's builds, which run a part.
// The program is built beside the tests that start it: they would wait for its link as a dependency.
let chosen = Context.environment["ONLY_TESTS"].map { names in
    closure(of: Set(names.split(separator: ",").map(String.init) + ["attest-worker"]), in: everything)
}
let targets = everything.filter { chosen?.contains($0.name) ?? true }
let programs = targets.filter { $0.name == "attest-worker" }.map(\.name)

let package = Package(
    name: "attest-worker",
    products: programs.map { .executable(name: $0, targets: [$0]) },
    targets: targets
)
