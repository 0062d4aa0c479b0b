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

// The tables of calls are read-only once the program runs. Debian 13's own linker leaves them writable. Packed relocations
// make the file a megabyte smaller; glibc reads them since 2.36, which is Debian 12's.
let hardened =
    ["-use-ld=lld"] + ["relro", "now", "pack-relative-relocs"].flatMap { ["-Xlinker", "-z", "-Xlinker", $0] }

func module(_ name: String, _ settings: [SwiftSetting], at path: String? = nil) -> Target {
    .target(name: name, path: path, swiftSettings: settings)
}

func testModule(_ name: String, _ settings: [SwiftSetting]) -> Target {
    .testTarget(name: name, swiftSettings: settings)
}

func executable(_ name: String, _ settings: [SwiftSetting], at path: String? = nil) -> Target {
    .executableTarget(name: name, path: path, swiftSettings: settings)
}

extension Target {
    /// The target with others that it depends on, with spaces between their names.
    func needs(_ names: String) -> Target {
        dependencies += names.split(separator: " ").map { .byName(name: String($0)) }
        return self
    }

    /// The target without files that are data, or built by those who use them.
    func without(_ files: String...) -> Target {
        exclude = files
        return self
    }
}

/// The targets of a wing, each in its folder. `Sources/WING/Wing.txt` says what the wing is for.
func wing(_ name: String, _ targets: Target...) -> [Target] { inFolders("Sources/\(name)", targets) }

func testWing(_ name: String, _ targets: Target...) -> [Target] { inFolders("Tests/\(name)", targets) }

func inFolders(_ folder: String, _ targets: [Target]) -> [Target] {
    for target in targets { target.path = "\(folder)/\(target.name)" }
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
        module("Threads", core),
        module("Compression", whole).needs("CZlib CZstd")
    ),
    wing(
        "verify",
        .target(name: "CPKCS11"),
        // Arithmetic on public data, and on the lab's keys, which are no secrets.
        // Optimised in debug builds too: there it is 45 times slower, and tests verify by the hundred thousand.
        .target(name: "CBatchVerify", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]),
        module("Crypto", hot).needs("COpenSSL CBatchVerify CPKCS11 Threads"),
        module("CBOR", hot).needs("CLibCBOR"),
        .target(name: "CByteScan", cSettings: [.unsafeFlags(["-O2"], .when(configuration: .debug))]),
        module("JSON", hot).needs("CByteScan"),
        module("AppAttest", core).needs("Crypto CBOR JSON"),
        module("AppCheck", core).needs("AppAttest Crypto JSON")
    ),
    wing(
        "judge",
        module("Streams", core),
        module("Pipeline", core).needs("Threads Streams AppCheck AppAttest Crypto CBOR JSON")
    ),
    wing(
        "settings",
        module("Settings", strict).needs("Compression Pipeline Threads Streams AppCheck AppAttest Crypto JSON")
    ),
    wing(
        "kafka",
        module("KafkaPorts", strict).needs("Streams"),
        module("Kafka", whole).needs("KafkaPorts Threads Streams CRdkafka"),
        module("Member", strict).needs("KafkaPorts Streams Pipeline"),
        module("Broker", strict)
            .needs("Member Settings Kafka KafkaPorts Pipeline Threads Streams AppCheck AppAttest Crypto JSON")
    ),
    wing(
        "serve",
        .target(name: "CCrashMark"),
        .target(name: "CProcess"),
        module("HTTP", core).needs("Threads CMicrohttpd"),
        module("Gateway", core)
            .needs("Broker Settings HTTP Kafka KafkaPorts Pipeline Threads Streams AppCheck AppAttest Crypto JSON"),
        module("Telemetry", whole)
            .needs("Gateway Member Settings HTTP Kafka KafkaPorts Pipeline Threads Streams AppCheck AppAttest")
            .needs("Crypto JSON"),
        module("HTTPClient", whole).needs("Threads CCurl"),
        module("CommandFrame", whole).needs("Telemetry Settings Compression Threads"),
        module("Run", whole)
            .needs("CommandFrame Telemetry Gateway Broker Member Settings HTTP Kafka KafkaPorts Pipeline Threads")
            .needs("Streams AppCheck AppAttest Crypto CCrashMark")
    ),
    wing(
        "refresh",
        module("Risk", core).needs("AppAttest Crypto JSON"),
        module("Refresher", whole)
            .needs("Run CommandFrame Telemetry Gateway Broker Member Settings Risk HTTP HTTPClient Kafka")
            .needs("KafkaPorts Pipeline Threads Streams AppCheck AppAttest Crypto JSON")
    ),
    wing(
        "study",
        module("Reports", whole).needs("Settings Pipeline Threads Streams AppCheck AppAttest Crypto JSON"),
        module("Study", whole)
            .needs("Run CommandFrame Telemetry Broker Reports Settings HTTPClient Kafka KafkaPorts Pipeline")
            .needs("Threads Streams AppCheck AppAttest Crypto JSON")
    ),
    wing(
        "lab",
        module("DeviceLab", whole).needs("AppAttest Crypto JSON"),
        module("Traffic", whole).needs("Threads Streams DeviceLab AppCheck AppAttest Crypto JSON"),
        module("Lab", whole)
            .needs("Study Refresher Run CommandFrame Telemetry Gateway Broker Member Traffic Reports Settings Risk")
            .needs("HTTP HTTPClient Kafka KafkaPorts Pipeline Threads Streams DeviceLab AppCheck AppAttest Crypto")
            .needs("JSON")
    ),
    wing(
        "program",
        module("Commands", whole)
            .needs("Lab Study Refresher Run CommandFrame Telemetry Broker Traffic Reports Settings Risk HTTP")
            .needs("HTTPClient Kafka KafkaPorts Pipeline Streams DeviceLab AppCheck AppAttest Crypto JSON CProcess"),
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
        testModule("CompressionTests", whole).needs("Compression")
    ),
    testWing(
        "verify",
        testModule("CryptoTests", whole).needs("Crypto CBatchVerify TestKit"),
        testModule("CBORTests", whole).needs("CBOR CLibCBOR TestKit"),
        testModule("JSONTests", whole).needs("JSON"),
        testModule("AppAttestTests", whole).needs("AppAttest Crypto CBOR DeviceLab TestKit"),
        testModule("AppCheckTests", whole).needs("AppCheck AppAttest Crypto JSON DeviceLab TestKit")
    ),
    testWing(
        "judge",
        testModule("PipelineTests", whole)
            .needs("Pipeline Threads Streams AppCheck AppAttest Crypto JSON DeviceLab TestKit SimulationKit")
    ),
    testWing(
        "settings",
        testModule("SettingsTests", whole)
            .needs("Settings Compression Pipeline Streams AppCheck AppAttest Crypto JSON DeviceLab TestKit")
    ),
    testWing(
        "kafka",
        // Clients on librdkafka's mock cluster.
        module("KafkaKit", whole).needs("TestKit Kafka KafkaPorts Streams"),
        testModule("MemberTests", whole).needs("Member KafkaPorts Streams Pipeline TestKit SimulationKit"),
        testModule("KafkaTests", whole).needs("Kafka KafkaPorts Gateway Pipeline Threads Streams TestKit KafkaKit"),
        testModule("BrokerTests", whole)
            .needs("Commands Broker Member Settings Kafka KafkaPorts Pipeline Threads Streams DeviceLab AppCheck")
            .needs("AppAttest Crypto JSON TestKit SimulationKit KafkaKit BrokerKit")
    ),
    testWing(
        "serve",
        testModule("HTTPClientTests", whole).needs("HTTPClient HTTP Threads TestKit"),
        testModule("HTTPTests", whole).needs("HTTP Threads TestKit"),
        testModule("GatewayTests", whole)
            .needs("Gateway HTTP Kafka KafkaPorts Settings Pipeline Threads Streams AppCheck AppAttest Crypto JSON")
            .needs("DeviceLab TestKit SimulationKit"),
        testModule("TelemetryTests", whole)
            .needs("Telemetry Gateway Member Settings HTTP Kafka KafkaPorts Pipeline Threads Streams AppCheck")
            .needs("AppAttest JSON DeviceLab TestKit")
    ),
    testWing(
        "refresh",
        // A month of receipts in memory, and Apple's answers, under seeds.
        module("RiskKit", whole)
            .needs("Risk Refresher Gateway Telemetry Kafka KafkaPorts Streams AppAttest Crypto JSON DeviceLab")
            .needs("SimulationKit"),
        testModule("RiskTests", whole).needs("Risk RiskKit AppAttest Crypto JSON DeviceLab TestKit"),
        testModule("RefresherTests", whole)
            .needs("Refresher Risk Lab Gateway Telemetry Settings HTTP HTTPClient Kafka KafkaPorts Streams Threads")
            .needs("AppCheck AppAttest Crypto JSON DeviceLab TestKit RiskKit SimulationKit KafkaKit")
    ),
    testWing(
        "study",
        testModule("ReportsTests", whole)
            .needs("Reports Settings Pipeline Streams AppCheck AppAttest Crypto JSON DeviceLab TestKit")
    ),
    testWing(
        "lab",
        testModule("DeviceLabTests", whole).needs("DeviceLab AppAttest Crypto CBOR JSON TestKit"),
        testModule("TrafficTests", whole).needs("Traffic Streams AppCheck AppAttest JSON DeviceLab")
    ),
    testWing(
        "program",
        testModule("ProgramTests", whole)
            .needs("Commands Lab Study Refresher Run CommandFrame Telemetry Gateway Broker Member Traffic Reports")
            .needs("Settings Risk HTTP HTTPClient Compression Kafka KafkaPorts Pipeline Threads Streams DeviceLab")
            .needs("AppCheck AppAttest Crypto JSON CProcess TestKit SimulationKit BrokerKit")
    ),
    testWing(
        "world",
        // Objects, requests, vectors, config directories, and waits.
        module("TestKit", whole)
            .needs("Settings Pipeline Threads Streams AppCheck AppAttest Crypto JSON DeviceLab")
            .without("firebase-contract.json", "verify_tokens.py", "consume_token.py"),
        // The loop on streams and lanes in memory, under seeds.
        module("SimulationKit", whole)
            .needs("TestKit Broker Member Settings KafkaPorts Pipeline Streams AppCheck AppAttest Crypto JSON")
            .needs("DeviceLab"),
        // The whole service around the simulated Kafka: gateways, stock clients, backends, an operator.
        module("ServiceKit", whole)
            .needs("TestKit SimulationKit Run Telemetry Broker Gateway HTTP Settings Kafka KafkaPorts Pipeline Streams")
            .needs("AppCheck AppAttest Crypto JSON DeviceLab"),
        // Scripts of what client library and brokers do, played by several worlds.
        module("ContractKit", whole)
            .needs("TestKit SimulationKit KafkaKit BrokerKit Broker Settings Member Kafka KafkaPorts Pipeline")
            .needs("Streams DeviceLab")
            .without("World/Outcomes.txt"),
        testModule("SimulationTests", whole)
            .needs("Member KafkaPorts Pipeline Threads Streams AppCheck AppAttest Crypto JSON DeviceLab TestKit")
            .needs("SimulationKit ServiceKit RiskKit Risk Broker Settings")
            .without("Seeds.txt"),
        testModule("ContractTests", whole)
            .needs("ContractKit BrokerKit SimulationKit TestKit Broker Settings Kafka KafkaPorts Streams")
    ),
    testWing(
        "brokers",
        // Members on mock and real clusters, real brokers, the program as a process.
        module("BrokerKit", whole)
            .needs("KafkaKit TestKit SimulationKit Broker Member Settings Kafka KafkaPorts Pipeline Threads")
            .needs("Streams AppCheck AppAttest Crypto JSON DeviceLab")
            .without("Clock/clock_shim.c"),
        // Ten promises on one real broker.
        testModule("SmokeTests", whole)
            .needs("Broker Settings Kafka KafkaPorts Streams TestKit BrokerKit ContractKit")
    ),
    testWing(
        "tidy",
        testModule("TidyTests", whole).needs("Commands CommandFrame Telemetry Reports AppCheck AppAttest")
    ),
].flatMap { $0 }

// Hostile clients of a gateway without a broker, and what they may get: driven by seeds or by libFuzzer.
let hostileTargets: [Target] = [
    module("HostileHTTP", strict, at: "Benchmarks/HostileHTTP")
        .needs("Gateway HTTP Kafka KafkaPorts Settings Pipeline Threads Streams AppCheck AppAttest Crypto JSON")
]

/// What programs call to count references; those that link CMallocCounter call its wrappers.
let referenceCalls = ["retain", "release", "bridgeObjectRetain", "bridgeObjectRelease"].flatMap { [$0, "\($0)_n"] }

// Built for `.ci/soak` and for measurements only.
let soakTargets: [Target] = [
    testWing(
        "brokers",
        // The network before real brokers, chaos runs and their checker.
        module("ChaosKit", whole)
            .needs("Lab Broker Traffic Settings HTTP Kafka KafkaPorts Pipeline Threads Streams DeviceLab AppCheck")
            .needs("AppAttest Crypto JSON TestKit BrokerKit"),
        testModule("EndToEndTests", whole)
            .needs("Commands Lab Broker Member Traffic Settings HTTP HTTPClient Kafka KafkaPorts Pipeline Threads")
            .needs("Streams DeviceLab AppCheck AppAttest Crypto JSON TestKit SimulationKit KafkaKit BrokerKit")
            .needs("ContractKit ChaosKit")
            .without("HSM/unsteady_token.c")
    ),
    [
        // Counts what a thread allocates, retains and releases; only the benchmarks link it.
        .target(
            name: "CMallocCounter",
            path: "Benchmarks/MallocCounter",
            linkerSettings: [.unsafeFlags(referenceCalls.flatMap { ["-Xlinker", "--wrap=swift_\($0)"] })]
        ),
        .target(name: "CProcessorProbe", path: "Benchmarks/ProcessorProbe"),
        // OpenSSL itself, as the baseline.
        executable("Benchmarks", strict, at: "Benchmarks/Suite")
            .needs("Commands CommandFrame Reports Settings Pipeline Threads Streams DeviceLab AppCheck AppAttest")
            .needs("Crypto CBOR JSON COpenSSL CMallocCounter CProcessorProbe"),
        executable("FuzzLab", strict, at: "Benchmarks/FuzzLab")
            .needs("HostileHTTP Pipeline Threads Streams AppCheck AppAttest Crypto JSON DeviceLab"),
        // The executable is built beside the runner, which starts it.
        executable("ChaosLab", strict, at: "Benchmarks/ChaosLab").needs("attest-worker BrokerKit ChaosKit"),
        executable("RestoreBench", strict, at: "Benchmarks/RestoreBench")
            .needs("Settings Kafka KafkaPorts Pipeline Threads Streams AppCheck AppAttest Crypto DeviceLab"),
        executable("KafkaCopy", strict, at: "Benchmarks/KafkaCopy")
            .needs("Settings Broker Member Streams Kafka Pipeline AppAttest Crypto"),
    ],
].flatMap { $0 }

func fuzzTarget(_ name: String, _ others: String = "") -> Target {
    let target = executable(name, strict, at: "Benchmarks/FuzzTargets/\(name)")
        .needs("FuzzSupport Pipeline Streams AppCheck AppAttest Crypto JSON DeviceLab").needs(others)
    // libFuzzer brings its runtime at the link; gold, the default linker, fails on it.
    target.linkerSettings = [.unsafeFlags(["-sanitize=fuzzer", "-use-ld=lld"])]
    return target
}

let fuzzTargets: [Target] = [
    .target(name: "CLibFuzzer", path: "Benchmarks/FuzzTargets/CLibFuzzer"),
    module("FuzzSupport", strict, at: "Benchmarks/FuzzTargets/FuzzSupport").needs("CLibFuzzer"),
    fuzzTarget("FuzzAttestation"),
    fuzzTarget("FuzzAssertion"),
    fuzzTarget("FuzzReceipt", "Risk"),
    fuzzTarget("FuzzRequest", "Risk"),
    fuzzTarget("FuzzSignature"),
    fuzzTarget("FuzzGateway", "HostileHTTP"),
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
