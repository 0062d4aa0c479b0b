internal import AppCheck
internal import JSON

/// Lists of apps.json that accept nothing because they are empty. An absent list sets no limit, so each of them is
/// likely a mistake, but only a warning: an operator may close an app this way.
enum EmptyLists {
    /// Includes `categories.allow` and `bundleVersions.allow`; an empty list of OAuth clients means the same as none.
    private static let names = ["projects", "apps", "appleAppIds", "allow", "apiKeys"]

    /// - Parameter files: their apps.json was read without a fault.
    /// - Returns: such as `projects[0].apps[1].categories.allow`, in the file's order.
    static func places(in files: ConfigurationFiles) throws(ConfigurationFault) -> [String] {
        guard let root = try files.root(of: "apps.json").node else { return [] }
        var places: [String] = []
        search(root, at: "", into: &places)
        // Without a project there is no request, and without an app no project.
        if root["projects"] == nil { places.append("projects") }
        for (index, project) in (root["projects"]?.elements ?? []).enumerated() where project["apps"] == nil {
            places.append("projects[\(index)].apps")
        }
        return places
    }

    static func warning(_ place: String) -> String {
        switch place.split(separator: ".").last {
        case "projects": "apps.json: projects is empty or absent: every request is refused"
        case "apps": "apps.json: \(place) is empty or absent: the project is unknown, and its requests are refused"
        case "appleAppIds": "apps.json: \(place) is empty: no device is accepted; list the Apple App IDs"
        default: "apps.json: \(place) is empty: nothing is accepted; leave the list out to set no limit"
        }
    }

    private static func search(_ node: JSONNode, at place: String, into places: inout [String]) {
        for member in node.members {
            let name = String(decoding: member.name, as: UTF8.self)
            let inner = place.isEmpty ? name : "\(place).\(name)"
            if member.value.kind == .array, member.value.elements.isEmpty, names.contains(name) { places.append(inner) }
            for (index, element) in member.value.elements.enumerated() {
                search(element, at: "\(inner)[\(index)]", into: &places)
            }
            search(member.value, at: inner, into: &places)
        }
    }
}

extension Configuration {
    /// - Throws: where no app is listed: this is not the file that was meant, and `unknown-app` silences a device for a day.
    package func checkHasApp() throws(ConfigurationFault) {
        guard registry.isEmpty else { return }
        throw ConfigurationFault(
            "apps.json lists no app, so every request would be refused: list the apps, or name those that are gone under retired."
        )
    }
}
