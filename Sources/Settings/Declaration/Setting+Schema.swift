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

/// Text of the Configuration page where no link can be followed.
enum PageText {
    /// The text without marks of code and links.
    static func plain(_ text: String) -> String {
        var plain = ""
        var rest = text[...]
        while let start = rest.firstRange(of: "<doc:") {
            let link = rest[start.upperBound...].prefix { $0 != ">" }
            plain += rest[..<start.lowerBound] + "the page " + link.prefix { $0 != "#" }
            rest = rest[link.endIndex...].dropFirst()
        }
        return (plain + rest).filter { $0 != "`" }
    }
}
