internal import Testing

@Suite("The rules find their breaches")
struct RuleTests {
    private func file(_ text: String, at path: String = "Sources/verify/AppAttest/Sample.swift") -> SourceFile {
        SourceFile(path: path, text: text)
    }

    private func function(lines: Int) -> String {
        let body = Array(repeating: "        work()", count: lines - 4).joined(separator: "\n")
        return "struct S {\n    package static func f(\n        a: Int\n    ) -> Int {\n\(body)\n    }\n}\n"
    }

    @Test func `a file of 501 lines is too long, one of 500 is not`() {
        #expect(Rules.longFile(file(String(repeating: "\n", count: 501))).count == 1)
        #expect(Rules.longFile(file(String(repeating: "\n", count: 500))) == [])
    }

    @Test func `a function over 70 lines, signature included, is too long, whatever declares it`() {
        #expect(Rules.longFunctions(file(function(lines: 71))).map(\.line) == [2])
        #expect(Rules.longFunctions(file(function(lines: 70))) == [])
        let body = String(repeating: "    work();\n", count: 70)
        #expect(Rules.longFunctions(file("init(a: Int) {\n\(body)}\n")).count == 1)
        #expect(Rules.longFunctions(file("private var value: Int {\n\(body)}\n")).count == 1)
        #expect(
            Rules.longFunctions(file("int f(int a)\n{\n\(body)}\n", at: "Sources/verify/CBatchVerify/f.c")).count == 1
        )
        #expect(Rules.longFunctions(file("protocol P {\n    func f()\n}\nstruct S {\n\(body)}\n")) == [])
    }

    @Test(
        arguments: [
            ("internal import COpenSSL", "Sources/verify/AppAttest/A.swift", false),
            ("internal import COpenSSL", "Sources/verify/Crypto/A.swift", true),
            ("internal import CRdkafka", "Sources/program/Commands/A.swift", false),
            ("internal import CLibCBOR", "Tests/verify/CBORTests/A.swift", true),
            ("internal import Foundation", "Sources/judge/Pipeline/A.swift", false),
            ("internal import Foundation", "Sources/settings/Settings/Files/A.swift", false),
            ("internal import FoundationEssentials", "Sources/program/Commands/A.swift", false),
            ("internal import Foundation", "Sources/program/attest-worker/A.swift", false),
            ("internal import Foundation", "Benchmarks/Suite/A.swift", true),
            ("internal import Foundation", "Tests/program/ProgramTests/A.swift", true),
            ("internal import struct Foundation.Date", "Sources/verify/AppCheck/A.swift", false),
            ("internal import Dispatch", "Sources/judge/Pipeline/Ledger/A.swift", false),
            ("internal import Dispatch", "Sources/judge/Pipeline/Lanes.swift", true),
            ("internal import Synchronization", "Sources/kafka/Member/Group/A.swift", false),
            ("internal import Synchronization", "Sources/kafka/KafkaPorts/A.swift", true),
            ("package import KafkaPorts", "Sources/kafka/Member/Group/A.swift", true),
            ("import AppAttest", "Sources/judge/Pipeline/A.swift", false),
        ]
    )
    func `imports out of place are found`(text: String, path: String, allowed: Bool) {
        let sample = file(text, at: path)
        #expect((Rules.foreignImports(sample) + Rules.bareImports(sample)).isEmpty == allowed)
    }

    @Test(
        arguments: [
            ("public struct S {}", false), ("let a = try! f()", false), ("let m = Mutex(1)", false),
            ("// public is a word", true), ("let a = \"public\"", true), ("let publicKey = 1", true),
            ("let a = b as! C", false), ("file.open()", true), ("/// try! is banned", true),
            ("let a = \"\"\"\n    public\n    \"\"\"", true), ("fatalError(\"x\")", false),
            ("let a = \"\\\"\"; public", false), ("let a = 1 / 2; public", false),
        ]
    )
    func `banned words are found in code, not in comments, strings or other names`(text: String, allowed: Bool) {
        #expect(Rules.bannedCode(file(text)).isEmpty == allowed)
    }

    @Test(
        arguments: [
            ("let now = Date()", false), ("let t = ContinuousClock.now", false), ("Int.random(in: 0..<3)", false),
            ("Int.random(in: 0..<3, using: &random)", true), ("Date(timeIntervalSince1970: 0)", true),
            ("unsafe RAND_bytes(p, 1)", false), ("let a = list.shuffled()", false), ("let a = runtime(nil)", true),
            ("let a = SecureRandom.bytes(1)", false), ("let a = try SigningKey.generate(.p256)", false),
        ]
    )
    func `clocks and random sources are found below the worker only`(text: String, allowed: Bool) {
        #expect(Rules.ambientSources(file(text)).isEmpty == allowed)
        #expect(Rules.ambientSources(file(text, at: "Sources/program/Commands/A.swift")).isEmpty)
        #expect(Rules.ambientSources(file(text, at: "Sources/settings/Settings/A.swift")).isEmpty)
        #expect(Rules.ambientSources(file(text, at: "Sources/verify/Crypto/A.swift")).isEmpty == allowed)
    }

    @Test(
        arguments: [("exit(0)", 1), ("_exit(0)", 0), ("return .exit(0)", 0), ("// exit(0)", 0)]
    )
    func `a call of exit is found, one of _exit or of a member is not`(text: String, count: Int) {
        #expect(Rules.exitHandlers(file(text, at: "Sources/program/Commands/A.swift")).count == count)
        #expect(Rules.exitHandlers(file(text, at: "Tests/A.swift")) == [])
    }

    @Test(
        arguments: [
            ("let a = String(decoding: bytes, as: UTF8.self)", 1), ("let a = String(validating: b, as: UTF8.self)", 1),
            ("guard let kid = header[a]?.string else { return }", 1), ("let a = nodes.map(\\.string)", 1),
            ("let a = text.shown", 1), ("let a = node.stringBytes", 0), ("json.string(validUTF8: b)", 0),
            ("if kind == .string { return }", 0), ("// String(decoding: bytes)", 0), ("let a = ExactText(bytes)", 0),
        ]
    )
    func `a String made from a record's bytes is found, wherever it is made`(text: String, count: Int) {
        for module in ["verify/JSON", "verify/CBOR", "verify/AppAttest", "verify/AppCheck", "judge/Pipeline"] {
            #expect(Rules.textsOfRecords(file(text, at: "Sources/\(module)/A.swift")).count == count)
        }
        #expect(Rules.textsOfRecords(file(text, at: "Sources/program/Commands/A.swift")) == [])
    }

    @Test(
        arguments: [
            ("/// Of two loops.", 1), ("/// The sum of two loops.\n/// Of both.", 0), ("/// Offset of a record.", 0),
            ("// Of two loops.", 0), ("/// `Of` is a word.", 0), ("let a = 1\n    /// By name.\n    let b = 2", 1),
        ]
    )
    func `a fragment at the beginning of a doc comment is found`(text: String, count: Int) {
        #expect(Rules.fragments(file(text, at: "Sources/verify/JSON/A.swift")).count == count)
        #expect(Rules.fragments(file(text, at: Rules.unreadFolders[0] + "A.swift")) == [])
        #expect(Rules.fragments(file(text, at: "Tests/A.swift")) == [])
    }

    @Test(
        arguments: [
            ("// A text that is no number.", 1), ("// nil for a text that is none.", 1), ("// There is no number.", 0),
            ("throw Fault(\"the value is no map\")", 1), ("// It is no longer read.", 0), ("// There are none.", 0),
            ("/// nil where there is none.", 0), ("// these are no records", 1), ("// It is not a number.", 0),
        ]
    )
    func `a negation by "no" is found in comments and messages`(text: String, count: Int) {
        #expect(Rules.negations(file(text, at: "Sources/verify/JSON/A.swift")).count == count)
        #expect(Rules.negations(file(text, at: Rules.unreadFolders[0] + "A.swift")) == [])
    }

    @Test func `promises of later work are found in comments, and unsafe code in files where none is allowed`() {
        #expect(Rules.promises(file("// TO" + "DO: more")).count == 1)
        #expect(Rules.promises(file("// done")) == [])
        #expect(Rules.strayUnsafe(file("let a = unsafe f()")).count == 1)
        #expect(Rules.strayUnsafe(file("let a = unsafe f()", at: "Sources/verify/Crypto/A.swift")) == [])
        #expect(Rules.strayUnsafe(file("// unsafe in prose")) == [])
    }

    @Test(arguments: [
        ("    private var count = 0", false), ("    let count: Int", true), ("    var all: [Int] { [] }", true),
        ("    private var owner = Owner(name)", true), ("    private let state = Locked(0)", true),
        ("    private(set) var last: Int?", false), ("    func f() {\n        var a = 0\n    }", true),
    ])
    func `a class that is shared unchecked keeps its variables`(member: String, isFine: Bool) {
        let text = "final class A: @unchecked Sendable {\n\(member)\n}\nfinal class B {\n    var b = 0\n}"
        #expect(Rules.sharing(SourceFile(path: "Sources/A/A.swift", text: text)).isEmpty == isFine)
        for text in ["nonisolated(unsafe) var a = 0", "let a = DispatchQueue(label: b)"] {
            #expect(Rules.sharing(SourceFile(path: "Sources/A/B.swift", text: text)).count == 1)
        }
        let comment = SourceFile(path: "Sources/A/C.swift", text: "/// A list. For one thread.\nfinal class C {\n}")
        #expect(Rules.bareConfinement(comment).count == 1)
    }
}
