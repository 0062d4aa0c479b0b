internal import AppAttest
internal import JSON

/// What a request has in place of each part that its verb needs: for people, after the decoder has refused it.
extension RequestDecoder {
    /// The checks in the order in which ``decode(_:)`` makes them, up to the first that failed.
    package func checks(_ value: [UInt8]) -> [RequestCheck] {
        var list = RequestCheckList()
        do throws(Reason) { try check(value, &list) } catch {}
        return list.checks
    }

    private func check(_ value: [UInt8], _ list: inout RequestCheckList) throws(Reason) {
        var beginning: JSONBeginning?
        guard let root = try? JSONDocument(parsing: value, .record, beginning: &beginning).root else {
            let expected = "a request within the limits of nesting and number of values"
            return try list.refuse(
                "JSON",
                .malformedRequest,
                Comparison("JSON", "beyond the limits", expected: expected)
            )
        }
        let path = read(root["path"]?.stringBytes ?? [])
        if let verb = path.command { return try check(verb, root, &list) }
        let members = Comparison(
            "members",
            root.hasDuplicateMembers ? "two members of one name" : "each member once",
            expected: "each member once"
        )
        try list.add("members", members) { () throws(Reason) in
            guard !root.hasDuplicateMembers else { throw .malformedRequest }
        }
        let target = try check(path, &list)
        try check(body: root["body"], of: target, &list)
    }

    /// An operator's command is genuine, or as good as any verb that is not served.
    private func check(
        _ verb: OperatorCommand.Verb,
        _ root: JSONNode,
        _ list: inout RequestCheckList
    ) throws(Reason) {
        let expected = "the code of an operator, by a sealing key of worker.json (a challenge key where none is listed)"
        let hasCode = root["body"]?["code"] != nil
        let row = Comparison("code", hasCode ? "another one" : "none", expected: expected)
        try list.add("command", row) { () throws(Reason) in _ = try command(verb, root) }
    }

    private func check(_ path: RequestPaths.Path, _ list: inout RequestCheckList) throws(Reason) -> RequestTarget {
        let parsed = path.echo.utf8 == path.bytes ? RequestPath(path.bytes) : nil
        let form =
            "[/]v1|v1beta/projects/P[/apps/A] or oauthClients/C, then :verb, in up to \(RequestPath.maxBytes) bytes"
        let echo = path.bytes.isEmpty ? "none, or a longer one" : path.echo.shown
        let hidden = path.echo.utf8 == path.bytes ? "" : " and a query or fragment"
        try list.add("path", Comparison("path", echo + hidden, expected: form)) { () throws(Reason) in
            guard let parsed, !parsed.hasEmptyName else { throw path.failure ?? .malformedRequest }
        }
        guard let parsed else { throw .malformedRequest }
        let isNameWrong = path.failure == .unknownApp
        let verbs = Comparison("verb", .text(parsed.verb.shown), expected: .text(Self.verbs(of: parsed)))
        try list.add("verb", verbs) { () throws(Reason) in
            if let failure = path.failure, !isNameWrong { throw failure }
        }
        let names = Comparison("app", .text(Self.name(parsed)), expected: .text(known(parsed)))
        try list.add("app", names) { () throws(Reason) in
            if let failure = path.failure { throw failure }
        }
        return try path.target.get()
    }

    private static func name(_ path: RequestPath) -> String {
        switch path.resource {
        case .app(let project, let app): "projects/\(project.shown)/apps/\(app.shown)"
        case .oauthClient(let client): "oauthClients/\(client.shown)"
        case .project(let project): "projects/\(project.shown)"
        }
    }

    /// The verbs that a path of this kind may have.
    private static func verbs(of path: RequestPath) -> String {
        if case .project = path.resource { return Method.verifyAppCheckToken.rawValue }
        let verbs = Method.allCases.filter { $0 != .verifyAppCheckToken }
        return "one of " + verbs.map(\.rawValue).joined(separator: ", ")
    }

    private static let shownNames = 20

    /// The names that the registry has for what the path names.
    private func known(_ path: RequestPath) -> String {
        let names: [String]
        switch path.resource {
        case .app: names = registry.apps.map(\.name)
        case .oauthClient: names = registry.apps.flatMap { $0.oauthClientIDs.map { "oauthClients/\($0)" } }
        case .project: names = registry.apps.map { "projects/\($0.projectNumber)" }
        }
        let rest = names.count > Self.shownNames ? " and \(names.count - Self.shownNames) others" : ""
        guard !names.isEmpty else { return "nothing of that kind is in apps.json" }
        return "one of " + names.prefix(Self.shownNames).joined(separator: ", ") + rest
    }
}

extension RequestPaths.Path {
    fileprivate var failure: Reason? {
        guard case .failure(let reason) = target else { return nil }
        return reason
    }
}
