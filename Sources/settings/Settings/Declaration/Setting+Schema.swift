extension Array {
    /// The schema of an object that has these settings and no other members.
    ///
    /// - Parameter prefix: as in ``ConfigurationValue/read(_:prefix:into:)``.
    func schema<Values>(_ standard: Values, prefix: String = "") -> JSONTree where Element == Setting<Values> {
        let members = memberNames(prefix).map { name in
            let inner = prefix + name + "."
            guard let setting = first(where: { $0.name + "." == inner }) else {
                let settings = filter { $0.name.hasPrefix(inner) }
                let schema = settings.schema(standard, prefix: inner)
                return JSONSchema.Member(name, schema, isRequired: settings.contains(where: \.isRequired))
            }
            let text = PageText.plain(setting.meaning)
            return JSONSchema.Member(name, setting.schema(standard).described(text), isRequired: setting.isRequired)
        }
        return JSONSchema.object(members)
    }

    /// The names of the members of one object, in order, each once.
    func memberNames<Values>(_ prefix: String) -> [String] where Element == Setting<Values> {
        var names: [String] = []
        for setting in self {
            let name = String(setting.name.dropFirst(prefix.count).prefix { $0 != "." })
            if !names.contains(name) { names.append(name) }
        }
        return names
    }
}

/// Text of a page where no link can be followed.
package enum PageText {
    /// Markdown without marks of code; a link becomes the page and section that it names.
    package static func plain(_ markdown: String) -> String {
        var plain = ""
        var rest = markdown[...]
        while let middle = rest.firstRange(of: "]("), let start = rest[..<middle.lowerBound].lastIndex(of: "[") {
            plain += rest[..<start] + "the page " + rest[start..<middle.lowerBound].dropFirst()
            rest = rest[middle.upperBound...].drop { $0 != ")" }.dropFirst()
        }
        return (plain + rest).filter { $0 != "`" }
    }
}
