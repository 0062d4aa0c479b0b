extension Rules {
    /// What makes a type fit for several threads without the compiler: a lock, atomics, or the check of its owner.
    private static let keepers = ["Locked", "Atomic<", "pthread_mutex_t", "Owner(", ".onQueue("]

    /// Types that are `@unchecked Sendable` with variables that nothing keeps, and unsafe globals and members that vary.
    static func sharing(_ file: SourceFile) -> [Breach] {
        guard file.isUnder(["Sources/"]) else { return [] }
        return file.code.enumerated().flatMap { index, line -> [Breach] in
            if line.contains("DispatchQueue(label:"), !file.isUnder(["Sources/ground/Threads/"]) {
                return [Breach(path: file.path, line: index + 1, text: "a queue that owns nothing")]
            }
            if line.contains("nonisolated(unsafe)"), line.contains(" var ") {
                return [Breach(path: file.path, line: index + 1, text: "a variable that is not isolated")]
            }
            guard line.contains("@unchecked Sendable"), !line.contains("extension ") else { return [] }
            let indent = line.prefix { $0 == " " }
            let body = file.code[(index + 1)...].prefix { $0 != "\(indent)}" }
            let isKept = body.contains { line in keepers.contains { line.contains($0) } }
            let variable = body.first { isStored($0, indent: "\(indent)    ") }
            guard !isKept, let variable else { return [] }
            return [Breach(path: file.path, line: index + 1, text: "nothing keeps \(variable.drop { $0 == " " })")]
        }
    }

    private static let confinements = [
        "confined to", "for one thread", "one thread at a time", "touched on", "touched only",
    ]

    /// Comments that confine a class which nothing checks.
    static func bareConfinement(_ file: SourceFile) -> [Breach] {
        let isChecked = file.code.contains { $0.contains("Owner(") || $0.contains(".onQueue(") }
        guard file.isUnder(["Sources/"]), !isChecked else { return [] }
        return file.lines.enumerated().compactMap { index, line in
            let text = line.lowercased()
            guard text.contains("//"), let word = confinements.first(where: text.contains) else { return nil }
            return Breach(path: file.path, line: index + 1, text: "a comment alone says \(word)")
        }
    }

    /// Whether a line declares a variable of the type itself that is stored.
    private static func isStored(_ line: String, indent: String) -> Bool {
        guard line.hasPrefix(indent), !line.dropFirst(indent.count).hasPrefix(" ") else { return false }
        guard line.contains("var ") && !line.contains("static var ") else { return false }
        return line.contains(" = ") || !line.hasSuffix("{") && !line.hasSuffix("}")
    }
}
