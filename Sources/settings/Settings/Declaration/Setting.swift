/// A key of a configuration file, declared once: the file is read by it, a reload compares by it, and its line on the
/// Configuration page and its JSON Schema are made of it. A key without a declaration is unknown.
struct Setting<Values>: Sendable {
    typealias Path<Value> = any WritableKeyPath<Values, Value> & Sendable

    /// Such as `limits.valueBytes`; in a list's elements from there on.
    private(set) var name: String
    /// Whether a running worker takes a change.
    private(set) var reloads = false
    private(set) var meaning = ""
    private(set) var isRequired = false
    fileprivate let read: @Sendable (ConfigurationValue, inout Values) throws(ConfigurationFault) -> Void
    /// Takes over a change if a reload may, else says whether there is one.
    fileprivate let renew: @Sendable (inout Values, _ fresh: Values) -> Bool
    /// Type, default and range.
    fileprivate let cells: @Sendable (_ standard: Values) -> [String]
    let schema: @Sendable (_ standard: Values) -> JSONTree
    fileprivate var elements: @Sendable (_ standard: Values, _ list: String) -> [String] = { _, _ in [] }

    /// Adds the meaning for the Configuration page: one sentence or more.
    func means(_ meaning: String) -> Setting {
        var setting = self
        setting.meaning = meaning
        return setting
    }
}

extension Setting {
    /// A value, whose default is what `path` holds before the file is read.
    ///
    /// - Parameters:
    ///   - standard: the page's word for the default, where it is not the value.
    ///   - range: the page's words for the range, where they say more than the kind's own.
    init<Value: Equatable & Sendable>(
        _ name: String,
        _ path: Path<Value>,
        _ kind: SettingKind<Value>,
        reloads: Bool = false,
        standard: String? = nil,
        range: String? = nil
    ) {
        let isRequired = kind.isRequired || standard == Self.requiredWord
        self.init(name: name, reloads: reloads, isRequired: isRequired) { value, values throws(ConfigurationFault) in
            if value.node != nil || kind.isRequired { values[keyPath: path] = try kind.read(value) }
        } renew: { values, fresh in
            if reloads { values[keyPath: path] = fresh[keyPath: path] }
            return values[keyPath: path] != fresh[keyPath: path]
        } cells: { values in
            let standard = standard ?? (kind.isRequired ? Self.requiredWord : kind.text(values[keyPath: path]))
            return [kind.type, standard, range ?? kind.range]
        } schema: { _ in
            kind.schema
        }
    }

    private static var requiredWord: String { "required" }

    /// A list of objects, which a reload takes as a whole.
    ///
    /// - Parameters:
    ///   - element: one with its defaults, made from what the object around the list says before it.
    ///   - check: compares an element with those before it.
    init<Element: Sendable>(
        _ name: String,
        _ path: Path<[Element]>,
        of element: @escaping @Sendable (Values) -> Element,
        _ settings: [Setting<Element>],
        range: String = "",
        check: (@Sendable (ConfigurationValue, Element, [Element]) throws(ConfigurationFault) -> Void)? = nil
    ) {
        self.init(name: name, reloads: true) { value, values throws(ConfigurationFault) in
            let standard = element(values)
            var list = values[keyPath: path]
            _ = try value.list("objects") { value throws(ConfigurationFault) in
                var next = standard
                try value.read(settings, into: &next)
                try check?(value, next, list)
                list.append(next)
            }
            values[keyPath: path] = list
        } renew: { values, fresh in
            values[keyPath: path] = fresh[keyPath: path]
            return false
        } cells: { _ in
            ["list of objects", "`[]`", range]
        } schema: { values in
            JSONSchema.list(of: settings.schema(element(values)))
        } elements: { values, list in
            settings.rows(element(values), in: list)
        }
    }
}

extension ConfigurationValue {
    /// Reads an object that has these settings and no other members.
    ///
    /// - Parameter prefix: what the settings' names begin with, for an inner object: its own name and a dot.
    func read<Values>(
        _ settings: [Setting<Values>],
        prefix: String = "",
        into values: inout Values
    ) throws(ConfigurationFault) {
        let names = settings.memberNames(prefix)
        var faults = FaultList()
        for (name, value) in zip(names, try members(names, &faults)) {
            let inner = prefix + name + "."
            faults.attempt { () throws(ConfigurationFault) in
                if let setting = settings.first(where: { $0.name + "." == inner }) {
                    try setting.read(value, &values)
                } else if value.node != nil {
                    try value.read(settings.filter { $0.name.hasPrefix(inner) }, prefix: inner, into: &values)
                }
            }
        }
        try faults.check()
    }
}

extension Array {
    /// Takes over what a reload may change.
    ///
    /// - Returns: the names of the other settings that differ.
    func renew<Values>(_ values: inout Values, _ fresh: Values) -> [String] where Element == Setting<Values> {
        filter { $0.renew(&values, fresh) }.map(\.name)
    }

    /// The lines of the Configuration page, in order.
    ///
    /// - Parameter place: the lists around the settings, each with a dot; what stands in a list is reloaded with it.
    func rows<Values>(_ standard: Values, in place: String = "") -> [String] where Element == Setting<Values> {
        flatMap { setting in
            let reload = setting.reloads || !place.isEmpty ? "reload" : "restart"
            let cells = ["`\(place)\(setting.name)`"] + setting.cells(standard) + [reload, setting.meaning]
            return [cells.reduce("|") { $0 + ($1.isEmpty ? " |" : " \($1) |") }]
                + setting.elements(standard, "\(place)\(setting.name)[].")
        }
    }
}
