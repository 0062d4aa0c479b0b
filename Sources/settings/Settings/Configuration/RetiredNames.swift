internal import AppAttest
internal import AppCheck

/// Apps and OAuth clients that were served and no longer are. A reload that drops an app without listing it here is
/// refused: a stock client that gets 404 makes no call for 24 hours.
enum RetiredNames {
    static let kind = SettingKind<Set<ExactText>>(
        type: "list of strings",
        range: "`projects/{number}/apps/{appId}` or `oauthClients/{client}`, none of them listed",
        schema: JSONSchema.list(of: JSONSchema.string(pattern: "^(projects/[^/]+/apps|oauthClients)/[^/]+$")),
        text: { _ in "`[]`" }
    ) { value throws(ConfigurationFault) in
        var names: Set<ExactText> = []
        for (index, name) in try value.strings().enumerated() {
            guard isName(name) else {
                throw value.fault(
                    "[\(index)] must be projects/{number}/apps/{appId} or oauthClients/{client}, not \"\(name.printable)\""
                )
            }
            guard names.insert(ExactText(name)).inserted else {
                throw value.fault("has \(name.printable) twice; keep one")
            }
        }
        return names
    }

    private static func isName(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.contains("") else { return false }
        return parts.count == 4 && parts[0] == "projects" && parts[2] == "apps"
            || parts.count == 2 && parts[0] == "oauthClients"
    }

    /// - Throws: where a name is listed and retired at once, or names its project by its ID.
    static func check(_ names: Set<ExactText>, against apps: [RegisteredApp]) throws(ConfigurationFault) {
        for app in apps {
            let listed = [app.name] + app.oauthClientIDs.map { "oauthClients/\($0)" }
            if let name = listed.first(where: { names.contains(ExactText($0)) }) {
                throw fault("\(name.printable) is listed under projects too; take it out of one of them")
            }
            guard let id = app.projectID, id != app.projectNumber else { continue }
            if let name = names.first(where: { $0.shown.hasPrefix("projects/\(id)/") }) {
                throw fault(
                    "\(name.shown.printable) names its project by its ID; write its number \(app.projectNumber)"
                )
            }
        }
    }

    private static let most = 3

    /// - Parameters:
    ///   - new: what a reload brings.
    ///   - old: what is served.
    /// - Throws: where an app is dropped without being listed as retired.
    static func check(_ new: Registry, after old: Registry) throws(ConfigurationFault) {
        let dropped = old.apps.map(\.name).filter { name in
            new.find(name: name) == nil && !new.retired.contains(ExactText(name))
        }
        guard !dropped.isEmpty else { return }
        let more = dropped.count > most ? " and \(dropped.count - most) more" : ""
        let names = dropped.prefix(most).map(\.printable).joined(separator: ", ") + more
        throw ConfigurationFault(
            "apps.json: \(names) \(dropped.count == 1 ? "is" : "are") served and no longer listed, and devices that are "
                + "told 404 stay silent for 24 hours: list \(dropped.count == 1 ? "it" : "them") again, or under retired."
        )
    }

    private static func fault(_ problem: String) -> ConfigurationFault {
        ConfigurationFault("apps.json: retired: \(problem).")
    }
}
