internal import AppAttest
internal import AppCheck

/// The names of what is not text in a record, made once.
struct KnownNames {
    let apps: [ExactText]
    private let verbs = Dictionary(uniqueKeysWithValues: Verb.allCases.map { ($0, ExactText($0.rawValue)) })
    private let categories = (0..<16).map { ExactText(Self.name(ofCategory: $0)) }
    private let production = ExactText(Environment.production.rawValue)
    private let development = ExactText(Environment.development.rawValue)

    init(apps: [String]) { self.apps = apps.map { ExactText($0) } }

    func verb(_ verb: Verb) -> ExactText { verbs[verb] ?? "" }

    func environment(_ environment: Environment) -> ExactText { environment == .production ? production : development }

    func category(_ category: UInt32) -> ExactText {
        categories.indices.contains(Int(category))
            ? categories[Int(category)] : ExactText(Self.name(ofCategory: category))
    }

    /// The category with Apple's word for it.
    private static func name(ofCategory category: UInt32) -> String {
        let names: [UInt32: String] = [
            0: "invalid", 1: "operating system", 2: "TestFlight", 3: "development-signed", 4: "App Store",
            5: "enterprise or ad hoc", 6: "Developer ID", 10: "other signing identity",
        ]
        return names[category].map { "\(category) (\($0))" } ?? "\(category)"
    }
}
