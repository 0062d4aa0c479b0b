internal import AppAttest
package import AppCheck
internal import Crypto
internal import JSON

package enum DebugTokens {
    /// The settings of a token. It needs an end, since its secret stands on test machines and in CI settings.
    static let settings: [Setting<DebugToken>] = [
        Setting("sha256", \.hash, .digest, range: "64 hex digits, unique in the app")
            .means("SHA-256 of the secret, a random UUID in lower case."),
        Setting("name", \.name, .name).means("Name in events and warnings, such as a machine's."),
        Setting("until", \.until, .time)
            .means("From here on exchanges of the secret get `debug-token-expired`."),
    ]

    /// The value of a list's element before it is read.
    static let none = DebugToken(hash: SHA256.hash([]), name: "", until: EvaluationTime(milliseconds: 0))

    @Sendable
    static func check(
        _ value: ConfigurationValue,
        _ token: DebugToken,
        _ others: [DebugToken]
    ) throws(ConfigurationFault) {
        guard !others.contains(where: { $0.hash == token.hash })
        else { throw value.fault("appears twice; remove one", at: "sha256") }
        guard others.count < DebugToken.mostPerApp
        else { throw value.fault("is more than \(DebugToken.mostPerApp) debug tokens; remove some") }
    }

    /// The warnings at each start, and after a reload those that are new: these apps give tokens away without a device.
    ///
    /// - Parameter now: milliseconds since 1970.
    package static func warnings(_ registry: Registry, now: Int64) -> [String] {
        registry.apps.filter { !$0.debugTokens.isEmpty }.flatMap { app in
            let (past, live) = (
                app.debugTokens.filter { $0.until.milliseconds <= now },
                app.debugTokens.filter { $0.until.milliseconds > now }
            )
            var lines = past.map {
                "apps.json: debug token \($0.name.printable) of \(app.label.printable) ended at "
                    + "\(TimeText.rfc3339($0.until.milliseconds)): remove it"
            }
            if !live.isEmpty {
                let names = live.map(\.name.printable).joined(separator: ", ")
                lines.append(
                    "apps.json: \(app.label.printable) has debug tokens (\(names)): their holders get tokens without a device"
                )
            }
            return lines
        }
    }
}

extension SettingKind<EvaluationTime> {
    /// A time that must be there.
    static var time: Self {
        SettingKind(
            "string",
            range: "RFC 3339 in UTC",
            isRequired: true,
            schema: JSONSchema.time,
            problem: "must be a time such as \"2027-01-31T00:00:00Z\"",
            text: { TimeText.rfc3339($0.milliseconds) }
        ) { node in
            guard let text = node.string, text.last == "Z" else { return nil }
            return TimeText.milliseconds(text).map { EvaluationTime(milliseconds: $0) }
        }
    }
}
