internal import AppAttest
package import AppCheck
package import CommandFrame
internal import JSON
package import KafkaPorts
internal import Reports
internal import Settings
internal import Streams

/// A record of the results topic as `tail` shows it: what it says is compared by bytes, and shown with nothing invisible.
package struct ShownResult {
    /// The most bytes that a line shows of one thing that the record says.
    private static let mostBytes = 80
    private static let keyBytes = 8

    /// Index into ``Registry/apps``; nil where the path names no app of the registry.
    let app: Int?
    let reason: [UInt8]?
    package let isAccepted: Bool
    private let time: Int64
    private let path: [UInt8]
    private let verb: String?
    private let verdict: [UInt8]
    private let keyID: [UInt8]?
    private let isDuplicate: Bool
    /// What a refusal was presented with, each after its name.
    private let presented: String?

    /// - Returns: nil for a record that is not a result.
    package init?(_ record: TopicRecord, in registry: Registry) {
        guard let value = record.value, let root = try? JSONDocument(parsing: value).root, root.kind == .object,
            let path = (root["path"]?.stringBytes).flatMap({ ExactText(validating: $0) }),
            let verdict = root["verdict"]?.stringBytes
        else { return nil }
        let account = RequestDecoder.account(of: path, in: registry)
        app = account.app
        verb = account.verb?.rawValue ?? OperatorRequest.verb(of: path.utf8)?.rawValue
        (self.path, self.verdict, reason) = (path.utf8, verdict, root["reason"]?.stringBytes)
        isAccepted = verdict.elementsEqual("accepted".utf8)
        keyID = root["keyId"]?.stringBytes
        isDuplicate = root["duplicate"]?.bool ?? false
        presented = Self.presented(root["evidence"])
        time = root["source"]?["timestamp"]?.integer ?? record.timestamp
    }

    /// Time, app, verb, verdict with its reason, the key's beginning; and of what is not accepted, what the reason means.
    ///
    /// - Parameter width: of the column of apps.
    package func line(in registry: Registry, width: Int) -> String {
        let clock = InboundRecord.timestamps.contains(time) ? TimeText.rfc3339(time) : "no time"
        let title = app.map { registry.apps[$0].title } ?? "-"
        let key = keyID.map { Self.shown($0, most: Self.keyBytes) + "…" } ?? "-"
        let parts = [
            clock, title.oneLine.padded(to: width), (verb ?? Self.shown(path)).padded(to: Self.verbWidth),
            said + (isDuplicate ? " (duplicate)" : ""), key, presented, meaning,
        ]
        return parts.compactMap { $0?.oneLine }.joined(separator: "  ")
    }

    /// The verdict with its reason, and what that means.
    package var outcome: String { [said, meaning].compactMap { $0?.oneLine }.joined(separator: ": ") }

    private var said: String { [verdict, reason].compactMap { $0.map { Self.shown($0) } }.joined(separator: " ") }

    private static func presented(_ evidence: JSONNode?) -> String? {
        let claimed = evidence?["claimed"]
        let members = [
            ("App ID", evidence?["presentedAppId"]), ("category", evidence?["presentedCategory"]),
            ("bundle version", evidence?["presentedBundleVersion"]), ("fault", evidence?["tokenFault"]),
            ("claimed kid", claimed?["kid"]), ("claimed iss", claimed?["iss"]),
        ]
        let texts = members.compactMap { name, value in
            value.map { "\(name) \(shown($0.stringBytes ?? $0.writtenText))" }
        }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }

    private static let verbWidth = Verb.allCases.map(\.rawValue.count).max() ?? 0

    private static func shown(_ bytes: [UInt8], most: Int = mostBytes) -> String {
        String(decoding: bytes.prefix(most), as: UTF8.self)
    }

    private var meaning: String? {
        guard !isAccepted, let reason, let entry = ReasonEntry.all.first(where: { $0.code.utf8.elementsEqual(reason) })
        else { return nil }
        return ReasonText.plain(entry.text.meaning)
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}

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
