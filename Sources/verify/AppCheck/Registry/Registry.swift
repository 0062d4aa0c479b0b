package import AppAttest

/// All apps, found by any of their names: project number or id, OAuth client id. Immutable; a reload makes a new one.
package struct Registry: Sendable {
    package let apps: [RegisteredApp]
    /// Apps, by ``RegisteredApp/name``, and OAuth clients that were served and no longer are.
    package let retired: Set<ExactText>
    /// Whether an app does: if none does, verifyReceipt is not served.
    package let keepsReceipts: Bool
    private let byName: [AppName<ExactText>: Int]
    private let byOAuthClient: [ExactText: Int]
    private let byLedgerName: [ExactText: Int]
    /// A project's number by its number or id.
    private let projectNumbers: [ExactText: String]

    private struct AppName<Name: Hashable & Sendable>: Hashable, Sendable {
        let project: Name
        let app: Name
    }

    package init() {
        (apps, retired, byName, byOAuthClient, byLedgerName, projectNumbers) = ([], [], [:], [:], [:], [:])
        keepsReceipts = false
    }

    /// - Throws: ``RegistryFault`` for an app or OAuth client that is listed twice, and for a project whose number or
    ///   id is also another one's. Here, unlike in a request, names that are equal to Unicode are equal.
    package init(apps: [RegisteredApp], retired: Set<ExactText> = []) throws(RegistryFault) {
        var byName: [AppName<String>: Int] = [:]
        var byOAuthClient: [String: Int] = [:]
        var byLedgerName: [String: Int] = [:]
        var numbers: [String: String] = [:]
        for (index, app) in apps.enumerated() {
            let projectNames = [app.projectNumber] + (app.projectID.map { [$0] } ?? [])
            for project in projectNames {
                guard numbers.updateValue(app.projectNumber, forKey: project) ?? app.projectNumber == app.projectNumber
                else { throw RegistryFault(message: "project \(project) refers to two project numbers") }
            }
            for project in Set(projectNames) {
                guard byName.updateValue(index, forKey: AppName(project: project, app: app.appID)) == nil
                else { throw RegistryFault(message: "app \(app.appID) appears twice in project \(project)") }
            }
            guard byLedgerName.updateValue(index, forKey: app.name) == nil
            else { throw RegistryFault(message: "the name \(app.name) refers to two apps") }
            for client in app.oauthClientIDs {
                guard byOAuthClient.updateValue(index, forKey: client) == nil
                else { throw RegistryFault(message: "OAuth client \(client) appears twice") }
            }
        }
        (self.apps, self.retired) = (apps, retired)
        keepsReceipts = apps.contains(where: \.risk.keepsReceipts)
        self.byName = Self.exact(byName) { AppName(project: ExactText($0.project), app: ExactText($0.app)) }
        self.byOAuthClient = Self.exact(byOAuthClient) { ExactText($0) }
        self.byLedgerName = Self.exact(byLedgerName) { ExactText($0) }
        projectNumbers = Self.exact(numbers) { ExactText($0) }
    }

    private static func exact<Key, Exact, Value>(_ values: [Key: Value], _ key: (Key) -> Exact) -> [Exact: Value] {
        Dictionary(uniqueKeysWithValues: values.map { (key($0.key), $0.value) })
    }

    /// Whether no app is named, not even a retired one.
    package var isEmpty: Bool { apps.isEmpty && retired.isEmpty }

    package var hasSeveralProjects: Bool { Set(apps.map(\.projectNumber)).count > 1 }

    /// Index into ``apps`` for `projects/{project}/apps/{app}`.
    package func find(project: ExactText, app: ExactText) -> Int? { byName[AppName(project: project, app: app)] }
    package func find(oauthClient: ExactText) -> Int? { byOAuthClient[oauthClient] }
    /// The app with this ``RegisteredApp/name``.
    package func find(name: String) -> Int? { byLedgerName[ExactText(name)] }
    /// The number of a project that is named by its number or its id; nil for an unknown project.
    package func projectNumber(of project: ExactText) -> String? { projectNumbers[project] }
}

package struct RegistryFault: Error, Equatable, Sendable {
    package let message: String

    package init(message: String) { self.message = message }
}

extension Registry {
    /// The ``RegisteredApp/label`` of the app with this resource name; the name itself where there is none.
    package func label(of resource: String) -> String { find(resource: resource)?.label ?? resource }

    /// The app with this resource name, in any of its forms; nil where there is none.
    package func find(resource: String) -> RegisteredApp? {
        let parts = resource.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let index: Int? =
            switch (parts.count, parts.first) {
            case (4, "projects") where parts[2] == "apps": find(project: ExactText(parts[1]), app: ExactText(parts[3]))
            case (2, "oauthClients"): find(oauthClient: ExactText(parts[1]))
            default: nil
            }
        return index.map { apps[$0] }
    }
}
