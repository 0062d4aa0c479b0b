package import AppAttest
internal import JSON

/// Reads requests: the first check of a record, before anything is verified.
package struct RequestDecoder: Sendable {
    let registry: Registry
    let limits: RequestLimits
    private let operatorKeys: OperatorKeys

    /// - Parameter operatorKeys: without them no operator's command is genuine.
    package init(registry: Registry, limits: RequestLimits, operatorKeys: OperatorKeys = OperatorKeys()) {
        (self.registry, self.limits, self.operatorKeys) = (registry, limits, operatorKeys)
    }

    package func decode(_ value: [UInt8]) -> RequestDecoding {
        var paths = RequestPaths()
        return decode(value, paths: &paths)
    }

    /// A pure function of the value's bytes: the size limit, strict UTF-8 JSON, `path`, verb, app, body, judged in
    /// this order.
    package func decode(_ value: [UInt8], paths: inout RequestPaths) -> RequestDecoding {
        decode(value, paths: &paths, NoTrace())
    }

    /// Decodes in the same way, check by check.
    package func decode(_ value: [UInt8], _ trace: CheckTrace) -> RequestDecoding {
        var paths = RequestPaths()
        return decode(value, paths: &paths, trace)
    }

    private func decode(
        _ value: [UInt8],
        paths: inout RequestPaths,
        _ trace: some CheckTracer
    ) -> RequestDecoding {
        guard value.count <= limits.valueBytes else { return .deadLetter(.tooLarge) }
        let root: JSONNode
        var beginning: JSONBeginning?
        do throws(JSONFault) {
            root = try JSONDocument(parsing: value, .record, beginning: &beginning).root
        } catch {
            if error.isLimit { return tooMuch(beginning, &paths, trace) }
            return .deadLetter(
                trace.failed("JSON", .notJSON) {
                    Comparison("JSON", "other bytes", expected: "strict UTF-8 JSON")
                }
            )
        }
        guard let path = Self.path(of: root) else { return .deadLetter(noPath(trace)) }
        return paths.with(path.span, self) { decode(root, $0, trace) }
    }

    private func decode(
        _ root: JSONNode,
        _ path: RequestPaths.Path,
        _ trace: some CheckTracer
    ) -> RequestDecoding {
        do throws(Reason) {
            if let verb = path.command {
                return .command(try command(verb, root, trace), path: path.echo)
            }
            let isOnce = !root.hasDuplicateMembers
            try trace.check("members", isOnce, else: Reason.malformedRequest) {
                let presented = isOnce ? "each member once" : "two members of one name"
                return Comparison("members", presented, expected: "each member once")
            }
            note(path, trace)
            return .request(try request(path: path.echo, target: path.target.get(), body: root["body"], trace))
        } catch {
            let status = error.status(appID: path.appID)
            let verb = try? path.target.get().verb
            let keyID = path.command == nil ? Self.readableKeyID(root, verb: verb) : nil
            return .refused(error, path: path.echo, keyID: keyID, status: status)
        }
    }

    /// An operator's command is genuine, or as good as any verb that is not served.
    private func command(
        _ verb: OperatorCommand.Action,
        _ root: JSONNode,
        _ trace: some CheckTracer
    ) throws(Reason) -> AuthenticCommand {
        do throws(Reason) {
            guard !root.hasDuplicateMembers else { throw .unknownMethod }
            let command = try OperatorRequest.read(verb, root["body"], operatorKeys)
            trace.passed("command") { nil }
            return command
        } catch {
            throw trace.failed("command", error) {
                let expected =
                    "the code of an operator, by a sealing key of worker.json "
                    + "(a challenge key where none is listed)"
                return Comparison("code", root["body"]?["code"] == nil ? "none" : "another one", expected: expected)
            }
        }
    }

    /// A value that is JSON as far as it was read, but exceeds every request: refused if its path is known.
    private func tooMuch(
        _ beginning: JSONBeginning?,
        _ paths: inout RequestPaths,
        _ trace: some CheckTracer
    ) -> RequestDecoding {
        guard let path = beginning?.string("path") else { return .deadLetter(noPath(trace)) }
        let reason = trace.failed("JSON", Reason.malformedRequest) {
            let expected = "a request within the limits of nesting and number of values"
            return Comparison("JSON", "beyond the limits", expected: expected)
        }
        return paths.with(path.span, self) { path in
            .refused(reason, path: path.echo, keyID: nil, status: reason.status(appID: path.appID))
        }
    }

    private func noPath(_ trace: some CheckTracer) -> DeadLetterReason {
        trace.passed("JSON") { Comparison("JSON", "JSON", expected: "strict UTF-8 JSON") }
        return trace.failed("path", .noPath) {
            Comparison("path", "absent, or no text", expected: "a member path that is a text")
        }
    }

    func read(_ bytes: [UInt8]) -> RequestPaths.Path {
        // A path that is too long is not echoed.
        let bytes = bytes.count > RequestPath.maxBytes ? [] : bytes
        let echoLength = RequestPath.echoLength(bytes)
        let parsed = echoLength == bytes.count ? RequestPath(bytes) : nil
        let command = OperatorRequest.verb(of: bytes)
        let target = Result { () throws(Reason) in
            // To all who are not an operator this is a verb that is not served.
            guard command == nil else { throw .unknownMethod }
            guard let parsed else { throw .malformedRequest }
            let verb = try verb(parsed)
            return RequestTarget(verb: verb, resource: try resource(parsed), isBeta: parsed.isBeta)
        }
        let echo = ExactText(validating: Array(bytes[..<echoLength])) ?? ""
        return RequestPaths.Path(bytes: bytes, echo: echo, appID: parsed?.appID, command: command, target: target)
    }

    /// The first string among the members named `path`; empty for one that is longer than any path.
    private static func path(of root: JSONNode) -> [UInt8]? {
        func bytes(_ node: JSONNode) -> [UInt8]? {
            node.writtenBytes > 6 * RequestPath.maxBytes ? [] : node.stringBytes
        }
        if let node = root["path"], let path = bytes(node) { return path }
        let name = Array("path".utf8)
        return root.members.first { $0.name == name && $0.value.kind == .string }.flatMap { bytes($0.value) }
    }

    /// The key ID for a refusal's result, if the body names one unambiguously.
    private static func readableKeyID(_ root: JSONNode, verb: Verb?) -> KeyID? {
        guard !root.hasDuplicateMembers, let body = try? RequestBody(root["body"], NoTrace()) else { return nil }
        switch verb?.keySource {
        case .artifact: return (try? body.artifact()).flatMap { KeyID(unverifiedArtifact: $0) }
        case .absent, .tokenID: return nil
        case .keyID, nil: return try? body.keyID()
        }
    }

    private func request(
        path: ExactText,
        target: RequestTarget,
        body: JSONNode?,
        _ trace: some CheckTracer
    ) throws(Reason) -> Request {
        let content: RequestContent
        switch target.verb.content {
        case .nothing:
            try RequestBody.checkEmpty(body, trace)
            content = RequestContent(body: .generateChallenge)
        case .attestation, .assertion:
            let members = try RequestBody(body, trace)
            content = try RequestContent(objectOf: target.verb, members, limits, hashLength(target))
        case .debugToken: content = try RequestContent(debugExchange: RequestBody(body, trace))
        case .appCheckToken: content = try RequestContent(tokenCheck: RequestBody(body, trace))
        case .receipt: content = try RequestContent(receiptCheck: RequestBody(body, trace))
        }
        return Request(
            path: path,
            resource: target.resource,
            isBeta: target.isBeta,
            verb: target.verb,
            keyID: content.keyID,
            unverifiedTokenID: content.unverifiedTokenID,
            body: content.body
        )
    }

    func hashLength(_ target: RequestTarget) -> ClientDataHashLength {
        guard let app = target.resource.app else { return .standard }
        return registry.apps[app].clientDataHash
    }

    /// - Throws: for a verb on the wrong kind of resource: `unknown-app` where an exchange names no app (Google has no
    ///   such address and answers 404), else `malformed-request`. For a verb that is not served: `unknown-method`, but
    ///   `unknown-app` where another provider's exchange names an unregistered app.
    private func verb(_ path: RequestPath) throws(Reason) -> Verb {
        guard let verb = Verb(name: path.verb) else {
            if Self.otherExchanges.contains(path.verb) { _ = try resource(path) }
            throw path.hasEmptyName ? .malformedRequest : .unknownMethod
        }
        var isProject = false
        if case .project = path.resource { isProject = true }
        switch verb.resource {
        case .project:
            guard isProject else { throw .malformedRequest }
        case .app where verb.token == .debug:
            // As a verb that is not served, unless the app has debug tokens.
            guard let app = try resource(path).app, !registry.apps[app].debugTokens.isEmpty else {
                throw path.hasEmptyName ? .malformedRequest : .unknownMethod
            }
        case .app where verb.content == .receipt && !registry.keepsReceipts:
            throw path.hasEmptyName ? .malformedRequest : .unknownMethod
        case .app where verb.tellsReason:
            guard !isProject, !path.hasEmptyName else { throw .malformedRequest }
        case .app:
            guard !isProject else { throw .unknownApp }
        }
        return verb
    }

    /// The verbs of App Check's other providers.
    static let otherExchanges: Set<ExactText> = [
        "exchangeDeviceCheckToken", "exchangeCustomToken", "exchangePlayIntegrityToken",
        "exchangeSafetyNetToken", "exchangeRecaptchaToken", "exchangeRecaptchaV3Token",
        "exchangeRecaptchaEnterpriseToken",
    ]

    /// - Throws: `unknown-app` for an unregistered resource.
    private func resource(_ path: RequestPath) throws(Reason) -> Request.Resource {
        switch path.resource {
        case .app(let project, let app):
            guard let index = registry.find(project: project, app: app) else { throw .unknownApp }
            return .app(index, appID: app)
        case .oauthClient(let client):
            guard let index = registry.find(oauthClient: client) else { throw .unknownApp }
            return .oauthClient(index, clientID: client)
        case .project(let project):
            guard let number = registry.projectNumber(of: project) else { throw .unknownApp }
            return .project(number: number)
        }
    }
}

package enum RequestDecoding: Sendable {
    case request(Request)
    /// An operator's, by its code; `path` as it may be echoed.
    case command(AuthenticCommand, path: ExactText)
    /// `path` as it may be echoed, `keyID` if the body names a readable one.
    case refused(Reason, path: ExactText, keyID: KeyID?, status: Status)
    case deadLetter(DeadLetterReason)
}

/// Size limits of a request, in bytes, and of the state remembered about requests; configurable.
package struct RequestLimits: Sendable, Equatable {
    package var valueBytes = 65_536
    package var headerBytes = 8_192
    package var clientDataBytes = 32_768
    package var clientDataHashBytes = 1_024
    package var requestIDBytes = 128
    /// Ids of used tokens that a partition may remember; above that, session tokens are refused. About 200 bytes each.
    package var sessionTokens = 1_000_000
    package static let pathBytes = RequestPath.maxBytes
    package init() {}
}
