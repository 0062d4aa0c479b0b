internal import JSON

/// A value of a configuration file, read strictly: unknown keys, wrong types and values out of range are refused with
/// the file and the key's path.
struct ConfigurationValue {
    let files: ConfigurationFiles
    let file: String
    var path = ""
    /// nil = absent.
    let node: JSONNode?

    /// - Parameter member: the member of an object that is to blame.
    func fault(_ problem: String, at member: String? = nil) -> ConfigurationFault {
        if let member { return inner(member, nil).fault(problem) }
        return ConfigurationFault(path.isEmpty ? "\(file): \(problem)." : "\(file): \(path): \(problem).")
    }

    /// - Parameters:
    ///   - shown: whether the sentence repeats the value.
    ///   - meant: the sentence's end after the value: a question.
    func fault(_ problem: String, shown: Bool, meant: String = "") -> ConfigurationFault {
        guard shown, let node else { return fault(problem) }
        let sentence = "\(problem), not \(Self.text(of: node))\(meant)"
        // A question needs no full stop.
        return meant.isEmpty ? fault(sentence) : ConfigurationFault("\(file): \(path): \(sentence)")
    }

    private func unknown(_ name: String, _ problem: String, among known: [String]) -> ConfigurationFault {
        let fault = fault(problem, at: name.printable)
        guard let meant = Suggestion.nearest(to: name, among: known) else { return fault }
        // A question needs no full stop.
        return ConfigurationFault("\(fault.message.dropLast()); did you mean \(meant)?")
    }

    private static let mostShown = 60

    /// A value in a form that its writer recognises.
    private static func text(of node: JSONNode) -> String {
        switch node.kind {
        case .null: return "null"
        case .bool: return node.bool.map(String.init) ?? "a boolean"
        case .number: return node.numberText.map { String($0.prefix(mostShown)) } ?? "a number"
        case .string:
            let text = (node.string ?? "").printable
            return "\"\(text.prefix(mostShown))\"" + (text.count > mostShown ? "…" : "")
        case .array: return "a list"
        case .object: return "an object"
        }
    }

    /// An object's members in the order of `known`.
    ///
    /// - Parameter faults: takes members that are not among `known`, and those that appear twice.
    /// - Throws: unless this is an object.
    func members(_ known: [String], _ faults: inout FaultList) throws(ConfigurationFault) -> [ConfigurationValue] {
        guard let node, node.kind == .object else { throw fault("must be an object") }
        var found: [String: JSONNode] = [:]
        for member in node.members {
            let name = String(decoding: member.name, as: UTF8.self)
            if !known.contains(name) {
                let names = known.isEmpty ? "none" : known.joined(separator: ", ")
                faults.add(unknown(name, "unknown key; known keys: \(names)", among: known))
            } else if found.updateValue(member.value, forKey: name) != nil {
                faults.add(fault("appears twice; keep one", at: name))
            }
        }
        return known.map { inner($0, found[$0]) }
    }

    /// A list's elements; none where it is absent.
    ///
    /// - Parameter kind: of what it must be a list.
    func elements(_ kind: String) throws(ConfigurationFault) -> [ConfigurationValue] {
        guard let node else { return [] }
        guard node.kind == .array else { throw fault("must be a list of \(kind)") }
        return node.elements.enumerated().map { index, element in
            ConfigurationValue(files: files, file: file, path: "\(path)[\(index)]", node: element)
        }
    }

    /// A list's elements, each read by itself: every one that is wrong is named with its place.
    func list<Element>(
        _ kind: String,
        _ read: (ConfigurationValue) throws(ConfigurationFault) -> Element
    ) throws(ConfigurationFault) -> [Element] {
        var (result, faults) = ([Element](), FaultList())
        for value in try elements(kind) {
            faults.attempt { () throws(ConfigurationFault) in result.append(try read(value)) }
        }
        try faults.check()
        return result
    }

    func strings() throws(ConfigurationFault) -> [String] { try list("strings", SettingKind<String>.string.read) }

    private func inner(_ name: String, _ node: JSONNode?) -> ConfigurationValue {
        ConfigurationValue(files: files, file: file, path: path.isEmpty ? name : "\(path).\(name)", node: node)
    }
}
