internal import JSON

/// One JSON object of a configuration file, read strictly: unknown keys, wrong types and values out of range are
/// refused with the file and the key's path.
struct ConfigurationObject {
    private let file: String
    private let path: String
    private let node: JSONNode

    /// - Throws: unless `node` is an object whose members are all among `keys`, each at most once.
    init(_ node: JSONNode, file: String, path: String, keys: [StaticString]) throws(ConfigurationFault) {
        self.file = file
        self.path = path
        self.node = node
        guard node.kind == .object else { throw Self.fault(file, path, "must be an object") }
        let known = keys.map(\.description)
        var seen: Set<String> = []
        for member in node.members {
            let name = String(decoding: member.name, as: UTF8.self)
            let place = Self.join(path, name.printable)
            guard known.contains(name) else {
                let names = known.isEmpty ? "none" : known.joined(separator: ", ")
                throw Self.fault(file, place, "unknown key; known keys: \(names)")
            }
            guard seen.insert(name).inserted else { throw Self.fault(file, place, "appears twice; keep one") }
        }
    }

    func fault(_ key: StaticString, _ problem: String) -> ConfigurationFault {
        Self.fault(file, Self.join(path, key.description), problem)
    }

    func string(_ key: StaticString) throws(ConfigurationFault) -> String? {
        guard let value = node[key] else { return nil }
        guard let string = value.string else { throw fault(key, "must be a string") }
        return string
    }

    /// A string that is required and not empty.
    func name(_ key: StaticString) throws(ConfigurationFault) -> String {
        guard let name = try string(key), !name.isEmpty else { throw fault(key, "is required") }
        return name
    }

    func bool(_ key: StaticString, default standard: Bool) throws(ConfigurationFault) -> Bool {
        guard let value = node[key] else { return standard }
        guard let bool = value.bool else { throw fault(key, "must be true or false") }
        return bool
    }

    func integer(
        _ key: StaticString,
        in range: ClosedRange<Int>,
        default standard: Int
    ) throws(ConfigurationFault)
        -> Int
    {
        guard let value = node[key] else { return standard }
        guard let integer = value.integer, let number = Int(exactly: integer), range.contains(number) else {
            throw fault(key, "must be an integer from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// An integer or one word.
    ///
    /// - Returns: nil where it is absent, `.some(nil)` for the word.
    func integer(
        _ key: StaticString,
        orWord word: StaticString,
        in range: ClosedRange<Int>
    ) throws(ConfigurationFault) -> Int?? {
        guard let value = node[key] else { return nil }
        if value.string == word.description { return .some(nil) }
        guard let integer = value.integer, let number = Int(exactly: integer), range.contains(number) else {
            throw fault(key, "must be an integer from \(range.lowerBound) to \(range.upperBound), or \"\(word)\"")
        }
        return number
    }

    /// One of an enumeration's raw values; the default is the first.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ key: StaticString,
        default standard: Choice
    )
        throws(ConfigurationFault) -> Choice
    {
        guard let value = node[key] else { return standard }
        guard let text = value.string, let choice = Choice(rawValue: text) else {
            throw fault(key, "must be one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    /// One of a few names; `names` lists them for the fault.
    func named<Choice>(
        _ key: StaticString,
        _ choice: (String) -> Choice?,
        _ names: String
    )
        throws(ConfigurationFault) -> Choice?
    {
        guard let value = node[key] else { return nil }
        guard let text = value.string, let chosen = choice(text) else { throw fault(key, "must be one of \(names)") }
        return chosen
    }

    /// Milliseconds of a duration: an integer and one of ms, s, m, h, d.
    func duration(
        _ key: StaticString,
        in range: ClosedRange<Int64>,
        default standard: Int64,
        allowed: String
    ) throws(ConfigurationFault) -> Int64 {
        guard let value = node[key] else { return standard }
        guard let text = value.string, let milliseconds = DurationText.milliseconds(text), range.contains(milliseconds)
        else { throw fault(key, "must be a duration such as \"300s\", \"5m\" or \"96h\", \(allowed)") }
        return milliseconds
    }

    func strings(_ key: StaticString) throws(ConfigurationFault) -> [String]? {
        guard let value = node[key] else { return nil }
        var strings: [String] = []
        for element in value.elements {
            guard let string = element.string else { throw fault(key, "must be a list of strings") }
            strings.append(string)
        }
        guard value.kind == .array else { throw fault(key, "must be a list of strings") }
        return strings
    }

    func unsignedIntegers(_ key: StaticString) throws(ConfigurationFault) -> [UInt32]? {
        guard let value = node[key] else { return nil }
        var numbers: [UInt32] = []
        for element in value.elements {
            guard let integer = element.integer, let number = UInt32(exactly: integer)
            else { throw fault(key, "must be a list of integers from 0 to \(UInt32.max)") }
            numbers.append(number)
        }
        guard value.kind == .array else { throw fault(key, "must be a list of integers from 0 to \(UInt32.max)") }
        return numbers
    }

    /// A number's text as written.
    func numberText(_ key: StaticString) throws(ConfigurationFault) -> String? {
        guard let value = node[key] else { return nil }
        guard let text = value.numberText else { throw fault(key, "must be a number") }
        return text
    }

    func object(_ key: StaticString, keys: [StaticString]) throws(ConfigurationFault) -> ConfigurationObject? {
        guard let value = node[key] else { return nil }
        return try ConfigurationObject(value, file: file, path: Self.join(path, key.description), keys: keys)
    }

    /// A list of objects; empty where it is absent.
    func objects(_ key: StaticString, keys: [StaticString]) throws(ConfigurationFault) -> [ConfigurationObject] {
        guard let value = node[key] else { return [] }
        guard value.kind == .array else { throw fault(key, "must be a list of objects") }
        var objects: [ConfigurationObject] = []
        for (index, element) in value.elements.enumerated() {
            let place = "\(Self.join(path, key.description))[\(index)]"
            objects.append(try ConfigurationObject(element, file: file, path: place, keys: keys))
        }
        return objects
    }

    private static func join(_ path: String, _ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    private static func fault(_ file: String, _ path: String, _ problem: String) -> ConfigurationFault {
        ConfigurationFault(path.isEmpty ? "\(file): \(problem)." : "\(file): \(path): \(problem).")
    }
}

/// `"300s"`, `"5m"`, `"96h"`: a whole number and its unit.
enum DurationText {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    /// - Returns: nil for any other text, and for what does not fit.
    static func milliseconds(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(digits), let unit = units.first(where: { $0.suffix == text.dropFirst(digits.count) })
        else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: unit.milliseconds)
        return overflow ? nil : product
    }
}
