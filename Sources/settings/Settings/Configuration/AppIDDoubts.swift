internal import AppAttest
internal import AppCheck

/// Texts under appleAppIds that no device can present. Only a warning: no id is refused by its pattern.
enum AppIDDoubts {
    private static let teamLength = 10

    static func warnings(_ registry: Registry) -> [String] {
        registry.apps.flatMap { app in
            app.expectations.appIDs.compactMap { id in
                problem(id.text).map { "apps.json: \(app.label.printable): appleAppIds: \(id.text.printable) \($0)" }
            }
                + app.bundleIDs.filter { isTeam(halves($0).team) }.map {
                    "apps.json: \(app.label.printable): bundleIds: \($0.printable) begins with a team: no caller sends one"
                }
        }
    }

    /// Why no device has it; nil where one may.
    static func problem(_ text: String) -> String? {
        if text.contains("*") {
            return "has a wildcard, which stands for nothing: no device is accepted by it; list each App ID by itself"
        }
        let (team, bundle) = halves(text)
        guard isTeam(team) else {
            let isLower = isTeam(Substring(team.uppercased()))
            let words = isLower ? "has its team in lower case" : "does not begin with a team"
            return "\(words): no device is accepted by it; an App ID is the team's ten capital letters and digits, "
                + "a dot and the bundle identifier, such as ABCDE12345.com.example.app"
        }
        guard !bundle.isEmpty, bundle.utf8.allSatisfy(isOfBundle) else {
            return "has no bundle identifier of letters, digits, hyphens and dots after its team: no device is "
                + "accepted by it"
        }
        return nil
    }

    private static func halves(_ text: String) -> (team: Substring, bundle: Substring) {
        guard let dot = text.firstIndex(of: ".") else { return (text[...], "") }
        return (text[..<dot], text[text.index(after: dot)...])
    }

    private static func isTeam(_ text: Substring) -> Bool {
        text.utf8.count == teamLength && text.utf8.allSatisfy { isDigit($0) || (0x41...0x5A).contains($0) }
    }

    private static func isOfBundle(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5A).contains(byte & 0xDF) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

extension Configuration {
    /// The configuration's doubtful points: one line each, logged at a start and, where new, after a reload.
    package var doubts: [String] {
        kafkaPropertyDoubts + emptyLists.map(EmptyLists.warning) + AppIDDoubts.warnings(registry)
            + SettingDoubts.warnings(self)
    }
}
