internal import Foundation
internal import Testing

/// A source file of the package as its rules see it.
struct SourceFile: Sendable, CustomTestStringConvertible {
    /// Relative to the package: `Sources/verify/Crypto/Digest.swift`.
    let path: String
    let lines: [String]
    /// The lines without comments and without the content of string literals.
    let code: [String]

    init(path: String, text: String) {
        self.path = path
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        code = CodeStripper.strip(lines)
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    var testDescription: String { path }

    /// The wing's folder: `Sources/verify`, `Tests/world`, `Benchmarks/FuzzTargets`.
    var wing: String { path.split(separator: "/").prefix(2).joined(separator: "/") }
    /// The module's folder: `Sources/verify/Crypto`, `Tests/verify/CryptoTests`.
    var folder: String { path.split(separator: "/").dropLast().prefix(3).joined(separator: "/") }
    /// The lines as `wc -l` counts them.
    var length: Int { lines.count - (lines.last == "" ? 1 : 0) }

    func isUnder(_ prefixes: [String]) -> Bool { prefixes.contains { path.hasPrefix($0) } }
}

/// The package's own sources, read once.
enum SourceTree {
    static let root = (0..<4).reduce(URL(filePath: #filePath)) { path, _ in path.deletingLastPathComponent() }

    static let files: [SourceFile] = ["Sources", "Tests", "Benchmarks"].flatMap(read)
    static let swiftFiles: [SourceFile] = files.filter(\.isSwift)

    /// The text of a file of the package, nil if it is missing.
    static func text(_ path: String) -> String? {
        try? String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    private static func read(_ folder: String) -> [SourceFile] {
        let base = root.appending(path: folder)
        let found = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
        return found.filter(isSource).sorted().compactMap { path in
            text("\(folder)/\(path)").map { SourceFile(path: "\(folder)/\(path)", text: $0) }
        }
    }

    private static func isSource(_ path: String) -> Bool {
        [".swift", ".c", ".h"].contains { path.hasSuffix($0) }
    }
}

/// Blanks comments and the insides of string literals, so that words in prose break no rule.
enum CodeStripper {
    static func strip(_ lines: [String]) -> [String] {
        var inBlock = false
        return lines.map { line in
            let marks = line.split(separator: "\"\"\"", omittingEmptySubsequences: false)
            defer { if marks.count == 2 { inBlock.toggle() } }
            if marks.count == 2 { return inBlock ? stripLine(String(marks[1])) : stripLine(String(marks[0])) }
            return inBlock ? "" : stripLine(line)
        }
    }

    private static func stripLine(_ line: String) -> String {
        var kept: [UInt8] = []
        var inString = false
        var escaped = false
        // Open parentheses of each interpolation that is being read.
        var depths: [Int] = []
        for byte in line.utf8 {
            if inString {
                if escaped {
                    escaped = false
                    // An interpolation is code: it is kept up to its end, where the string goes on.
                    if byte == UInt8(ascii: "(") {
                        depths.append(1)
                        inString = false
                        kept.append(UInt8(ascii: " "))
                    }
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                    kept.append(byte)
                }
                continue
            }
            if byte == UInt8(ascii: "/"), kept.last == byte {
                kept.removeLast()
                break
            }
            if !depths.isEmpty {
                if byte == UInt8(ascii: "(") { depths[depths.count - 1] += 1 }
                if byte == UInt8(ascii: ")") { depths[depths.count - 1] -= 1 }
                if depths.last == 0 {
                    depths.removeLast()
                    kept.append(UInt8(ascii: " "))
                    inString = true
                    continue
                }
            }
            inString = byte == UInt8(ascii: "\"")
            kept.append(byte)
        }
        return String(decoding: kept, as: UTF8.self)
    }
}
