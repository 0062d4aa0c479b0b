/// A finding: where a rule is broken.
struct Breach: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let text: String
    var description: String { "\(path):\(line): \(text)" }
}

/// The rules of the sources, as functions from a file to its breaches.
enum Rules {
    static let maxFileLines = 500
    static let maxFunctionLines = 70

    // MARK: Sizes

    static func longFile(_ file: SourceFile) -> [Breach] {
        let count = file.length
        return count <= maxFileLines ? [] : [Breach(path: file.path, line: count, text: "\(count) lines")]
    }

    static func longFunctions(_ file: SourceFile) -> [Breach] {
        FunctionLengths.functions(in: file).filter { $0.length > maxFunctionLines }.map {
            Breach(path: file.path, line: $0.line, text: "a function of \($0.length) lines")
        }
    }

    // MARK: Imports

    /// The folders that may import a module; modules that are not listed may be imported anywhere.
    static let importers: [String: [String]] = [
        "COpenSSL": ["Sources/verify/Crypto/", "Benchmarks/Suite/"],
        "CBatchVerify": ["Sources/verify/Crypto/", "Tests/verify/CryptoTests/", "Benchmarks/"],
        "CByteScan": ["Sources/verify/JSON/"],
        "CLibCBOR": ["Sources/verify/CBOR/", "Tests/verify/CBORTests/"],
        "CRdkafka": ["Sources/kafka/Kafka/"],
        "CMicrohttpd": ["Sources/serve/HTTP/"],
        "CCurl": ["Sources/serve/HTTPClient/"],
        "CZlib": ["Sources/ground/Compression/"],
        "CZstd": ["Sources/ground/Compression/"],
        "CCrashMark": ["Sources/serve/Run/Crash/"],
        "CPKCS11": ["Sources/verify/Crypto/HSM/", "Tests/verify/CryptoTests/"],
        "CProcess": ["Sources/program/Commands/", "Tests/program/ProgramTests/"],
        "CMallocCounter": ["Benchmarks/Suite/"],
        "CLibFuzzer": ["Benchmarks/"],
        // Its text tables are more than all of the program.
        "Foundation": ["Tests/", "Benchmarks/"],
        "FoundationEssentials": ["Tests/", "Benchmarks/"],
        // The loader of the operator's signing library stands in Signing, logarithms in Figures.
        "Glibc": shell + [
            "Sources/judge/Pipeline/Lanes", "Sources/kafka/Kafka/", "Sources/serve/HTTP/",
            "Sources/serve/HTTPClient/", "Sources/ground/Threads/",
            "Sources/verify/Crypto/Signing/", "Sources/verify/Crypto/HSM/", "Sources/study/Reports/Figures/",
        ],
        "Dispatch": shell + [
            "Sources/judge/Pipeline/Lanes", "Sources/verify/Crypto/HSM/", "Sources/lab/Traffic/Simulated/",
            "Sources/ground/Threads/",
        ],
        "Testing": ["Tests/"],
    ]
    private static let shell = [
        "Sources/program/", "Sources/lab/Lab/", "Sources/study/Study/", "Sources/refresh/Refresher/",
        "Sources/serve/Run/", "Sources/serve/CommandFrame/", "Sources/serve/Telemetry/", "Sources/serve/Gateway/",
        "Sources/kafka/Broker/",
        "Sources/settings/Settings/",
        "Tests/", "Benchmarks/",
    ]

    static func imports(of file: SourceFile) -> [(module: String, line: Int, spelling: String)] {
        file.code.enumerated().compactMap { index, line in
            let words = line.split(separator: " ")
            guard let place = words.firstIndex(of: "import"), place + 1 < words.count else { return nil }
            guard words[..<place].allSatisfy({ $0.hasPrefix("@") || accessWords.contains($0) }) else { return nil }
            return (String(words[words.count - 1].prefix { $0 != "." }), index + 1, line)
        }
    }
    private static let accessWords: Set<Substring> = ["internal", "package", "private", "fileprivate", "public"]

    /// Folders that import these modules and no other.
    static let closed: [String: Set<String>] = [
        // A seed runs the member only as long as it has no thread, no lock and no clock of its own.
        "Sources/kafka/Member/": ["KafkaPorts", "Streams", "Pipeline"],
        // Values alone.
        "Sources/refresh/Risk/": ["AppAttest", "Crypto", "JSON"],
        // It knows nothing of attestation, nor of what a record says.
        "Sources/kafka/Kafka/": ["KafkaPorts", "Threads", "Streams", "CRdkafka", "Glibc", "Synchronization"],
        "Sources/kafka/KafkaPorts/": ["Streams", "Synchronization"],
        "Sources/judge/Streams/": [],
        // Any server: what it answers comes from above.
        "Sources/serve/HTTP/": ["Threads", "CMicrohttpd", "Glibc"],
        "Sources/serve/HTTPClient/": ["Threads", "CCurl", "Glibc"],
        // It knows no broker.
        "Sources/lab/Traffic/": [
            "DeviceLab", "AppCheck", "AppAttest", "Crypto", "JSON", "Threads", "Streams", "Dispatch", "Synchronization",
        ],
    ]

    static func foreignImports(_ file: SourceFile) -> [Breach] {
        imports(of: file).compactMap { found in
            for (folder, modules) in closed where file.isUnder([folder]) && !modules.contains(found.module) {
                return Breach(path: file.path, line: found.line, text: "imports \(found.module)")
            }
            guard let allowed = importers[found.module], !file.isUnder(allowed) else { return nil }
            return Breach(path: file.path, line: found.line, text: "imports \(found.module)")
        }
    }

    static func bareImports(_ file: SourceFile) -> [Breach] {
        guard file.isUnder(["Sources/"]) else { return [] }
        return imports(of: file).filter { !$0.spelling.contains("internal ") && !$0.spelling.contains("package ") }
            .map { Breach(path: file.path, line: $0.line, text: "says not how wide: \($0.spelling)") }
    }

    // MARK: Words

    private static let bannedWords = ["public", "Mutex", "fatalError"]
    private static let bannedPhrases = ["try!", "as!", "unowned(unsafe)", "open class", "open func", "open var"]

    static func bannedCode(_ file: SourceFile) -> [Breach] {
        guard file.isSwift else { return [] }
        return breaches(file, file.code) { line in
            bannedPhrases.first { line.contains($0) } ?? bannedWords.first { usesWord($0, in: line) }
        }
    }

    private static let ambientWords = [
        "clock_gettime", "gettimeofday", "ContinuousClock", "SuspendingClock", "SystemRandomNumberGenerator", "UUID",
        "RAND_bytes", "RAND_priv_bytes", "arc4random", "getrandom", "timespec_get", "SecureRandom",
    ]
    /// The one door to OpenSSL's generator; only the shell may call it.
    private static let randomDoor = "Sources/verify/Crypto/Secret/SecureRandom.swift"
    private static let ambientPhrases = [
        "Date()", "Date.now", "Date(timeIntervalSinceNow", "DispatchTime.now", "DispatchWallTime.now", ".shuffled()",
        ".randomElement()", " time(nil)", "SigningKey.generate(",
    ]

    /// Clocks and random sources: time and seeds are arguments below the shell.
    static func ambientSources(_ file: SourceFile) -> [Breach] {
        guard file.isUnder(["Sources/"]), !file.isUnder(shell), file.path != randomDoor else { return [] }
        return breaches(file, file.code) { line in
            if line.contains(".random("), !line.contains("using:") { return ".random( without a generator" }
            return ambientPhrases.first { line.contains($0) } ?? ambientWords.first { usesWord($0, in: line) }
        }
    }

    /// Spelled in halves, since this file is checked too.
    private static let promiseWords = ["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK", "to be " + "built"]

    /// Open work is not noted in the code.
    static func promises(_ file: SourceFile) -> [Breach] {
        breaches(file, file.lines) { line in promiseWords.first { line.contains($0) } }
    }

    /// `exit` takes OpenSSL's tables away while lanes are still at work; the program ends by `_exit`.
    static func exitHandlers(_ file: SourceFile) -> [Breach] {
        guard file.isUnder(["Sources/"]) else { return [] }
        return breaches(file, file.code) { line in
            line.contains("exit(") && usesWord("exit", in: line) ? "exit, not _exit" : nil
        }
    }

    private static let unsafeFolders =
        shell + [
            "Sources/verify/Crypto/", "Sources/verify/CBOR/", "Sources/kafka/Kafka/", "Sources/serve/HTTP/",
            "Sources/serve/HTTPClient/",
            "Sources/judge/Pipeline/Lanes", "Sources/verify/JSON/", "Sources/ground/Compression/",
            "Sources/ground/Threads/",
        ]

    /// Unsafe code stays in the modules that own C handles, in the lanes, and in JSON's byte scans (the hot path).
    static func strayUnsafe(_ file: SourceFile) -> [Breach] {
        guard file.isSwift, !file.isUnder(unsafeFolders) else { return [] }
        return breaches(file, file.code) { line in
            usesWord("unsafe", in: line) ? "unsafe" : nil
        }
    }

    private static func breaches(_ file: SourceFile, _ lines: [String], _ find: (String) -> String?) -> [Breach] {
        lines.enumerated().compactMap { index, line in
            find(line).map { Breach(path: file.path, line: index + 1, text: "uses \($0)") }
        }
    }

    /// Whether the line has the word on its own, and not as a member (`.open`), label (`open:`) or quoted name.
    private static func usesWord(_ word: String, in line: String) -> Bool {
        guard line.utf8.count >= word.utf8.count, line.contains(word) else { return false }
        return line.ranges(of: word).contains { range in
            let before = range.lowerBound == line.startIndex ? " " : line[line.index(before: range.lowerBound)]
            let after = range.upperBound == line.endIndex ? " " : line[range.upperBound]
            return !continuesName(before, ".`") && !continuesName(after, ":`")
        }
    }

    private static func continuesName(_ character: Character, _ others: String) -> Bool {
        character.isLetter || character.isNumber || character == "_" || others.contains(character)
    }
}
