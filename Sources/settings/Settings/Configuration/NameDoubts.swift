internal import AppAttest
internal import AppCheck

/// Names by which Google's clients do not ask for an app. Only warnings: other clients may ask by any.
enum NameDoubts {
    static func warnings(_ registry: Registry) -> [String] {
        var seen: Set<String> = []
        let projects = registry.apps.filter { $0.projectID == nil && seen.insert($0.projectNumber).inserted }
        return projects.map { app in
            "apps.json: project \(app.projectNumber.printable) has no id: Google's clients name a project by its ID, and their "
                + "calls get 503; set it"
        }
            + registry.apps.compactMap { app in
                problem(app).map {
                    "apps.json: \(app.label.printable): appId \($0), and no client of Google's asks for it"
                }
            }
    }

    private static func problem(_ app: RegisteredApp) -> String? {
        guard app.appID.hasPrefix("1:") else { return nil }
        guard let number = GoogleName.projectNumber(ofApp: ExactText(app.appID)) else {
            return "is not of the form 1:NUMBER:ios:HEX"
        }
        return number == ExactText(app.projectNumber) ? nil : "is one of project \(number)"
    }
}
