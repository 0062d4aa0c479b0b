/// Where functions begin and end, found by indentation: the formatter guarantees it.
enum FunctionLengths {
    struct Function: Equatable {
        /// 1-based.
        let line: Int
        let length: Int
    }

    static func functions(in file: SourceFile) -> [Function] {
        file.code.indices.compactMap { start in
            let begins = file.isSwift ? isSwiftStart(file.code[start]) : isCStart(file.code, start)
            guard begins, let end = end(of: start, in: file.code) else { return nil }
            return Function(line: start + 1, length: end - start + 1)
        }
    }

    /// The line that closes what begins at `start`; nil for a declaration without a body.
    private static func end(of start: Int, in code: [String]) -> Int? {
        let indent = indentation(code[start])
        var opened = false
        for index in start..<code.count {
            let line = code[index]
            let text = line.drop { $0 == " " }
            guard !text.isEmpty else { continue }
            if indentation(line) < indent { return nil }
            guard indentation(line) == indent else { continue }
            if opened, text.hasPrefix("}") { return index }
            if index > start, !opened, !continuesSignature(text) { return nil }
            if !opened, text.hasSuffix("}") { return index }
            if text.hasSuffix("{") { opened = true }
        }
        return nil
    }

    private static func continuesSignature(_ text: Substring) -> Bool {
        [")", "where", "->", "{", "throws", "async"].contains { text.hasPrefix($0) }
    }

    private static func isSwiftStart(_ line: String) -> Bool {
        for word in line.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_") }) {
            switch word {
            case "func", "deinit", "subscript": return true
            case "init": return !line.contains(".init") && !line.contains(" = init")
            case "var", "get", "set", "willSet", "didSet": return line.hasSuffix("{")
            case let word where modifiers.contains(word): continue
            default: return false
            }
        }
        return false
    }

    private static let modifiers: Set<Substring> = [
        "package", "private", "fileprivate", "internal", "static", "mutating", "nonmutating", "borrowing", "consuming",
        "final", "override", "required", "convenience", "inline", "__always", "never", "inlinable",
        "discardableResult", "nonisolated", "unsafe", "safe", "lazy", "indirect", "class", "_lifetime", "Test",
    ]

    /// C functions begin in the first column and open a brace before any statement ends.
    private static func isCStart(_ code: [String], _ index: Int) -> Bool {
        guard let first = code[index].first, first.isLetter, code[index].contains("(") else { return false }
        let end = code[index...].prefix(12).first { $0.hasSuffix("{") || $0.hasSuffix(";") }
        return end?.hasSuffix("{") ?? false
    }

    private static func indentation(_ line: String) -> Int { line.prefix { $0 == " " }.count }
}
