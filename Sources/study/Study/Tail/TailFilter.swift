package import AppCheck
package import CommandFrame
internal import Reports
internal import Settings

/// Which results `tail` shows.
package struct TailFilter {
    var isRefusedOnly = false
    /// Indexes into ``Registry/apps``; nil = any app, and none.
    var apps: Set<Int>?
    var reason: [UInt8]?

    init() {}

    package init(_ arguments: Arguments, _ registry: Registry) throws(UsageFault) {
        isRefusedOnly = arguments.has("--refused")
        if let name = arguments.string("--app") { apps = try Self.apps(name, registry) }
        guard let code = arguments.string("--reason") else { return }
        let known = ReasonEntry.all.filter { $0.status != nil }.map(\.code)
        guard known.contains(code) else {
            throw UsageFault(
                "no result has the reason '\(code.printable)'\(Suggestion.ending(for: code, among: known))"
            )
        }
        reason = Array(code.utf8)
    }

    private static func apps(_ name: String, _ registry: Registry) throws(UsageFault) -> Set<Int> {
        func names(_ app: RegisteredApp) -> [String] { [app.displayName, app.appID, app.name].compactMap(\.self) }
        let found = registry.apps.indices.filter { names(registry.apps[$0]).contains(name) }
        guard !found.isEmpty else {
            let known = registry.apps.flatMap(names)
            throw UsageFault("no app of apps.json is '\(name.printable)'\(Suggestion.ending(for: name, among: known))")
        }
        return Set(found)
    }

    package func shows(_ result: ShownResult) -> Bool {
        if isRefusedOnly, result.isAccepted { return false }
        if let apps, !(result.app.map(apps.contains) ?? false) { return false }
        return reason.map { $0 == result.reason } ?? true
    }
}
