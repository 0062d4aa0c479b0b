internal import AppAttest

/// Shows a path, and the form that it needs.
extension RequestDecoder {
    /// The checks of a path, the last of them the one that its refusal is about.
    func note<Tracer: CheckTracer>(_ path: RequestPaths.Path, _ trace: Tracer) {
        guard Tracer.keepsChecks else { return }
        let isWhole = path.echo.utf8 == path.bytes
        let parsed = isWhole ? RequestPath(path.bytes) : nil
        var failed: String?
        if case .failure(let reason) = path.target {
            failed = parsed?.hasEmptyName ?? true ? "path" : reason == .unknownApp ? "app" : "verb"
        }
        let form =
            "[/]v1|v1beta/projects/P[/apps/A] or oauthClients/C, then :verb, in up to \(RequestPath.maxBytes) bytes"
        let echo = path.bytes.isEmpty ? "none, or a longer one" : "\(path.echo)"
        let shown = echo + (isWhole ? "" : " and a query or fragment")
        let rows = [Comparison("path", shown, expected: form)] + (parsed.map { self.rows(of: $0) } ?? [])
        for row in rows {
            guard row.name == failed, case .failure(let reason) = path.target else {
                trace.passed(row.name) { row }
                continue
            }
            _ = trace.failed(row.name, reason) { row }
            return
        }
    }

    private func rows(of path: RequestPath) -> [Comparison] {
        let known: [String]
        var kind = Verb.Resource.app
        switch path.resource {
        case .app: known = registry.apps.map(\.name)
        case .oauthClient: known = registry.apps.flatMap { $0.oauthClientIDs.map { "oauthClients/\($0)" } }
        case .project:
            known = registry.apps.map { "projects/\($0.projectNumber)" }
            kind = .project
        }
        let verbs = Verb.allCases.filter { $0.resource == kind }.map(\.rawValue)
        return [
            Comparison("verb", .text("\(path.verb)"), expected: .list(verbs)),
            Comparison("app", .text("\(path.resource.name)"), expected: .text(Self.list(known))),
        ]
    }

    private static let shownNames = 20

    private static func list(_ names: [String]) -> String {
        guard !names.isEmpty else { return "nothing of that kind is in apps.json" }
        let rest = names.count > shownNames ? " and \(names.count - shownNames) others" : ""
        return "one of " + names.prefix(shownNames).joined(separator: ", ") + rest
    }
}
