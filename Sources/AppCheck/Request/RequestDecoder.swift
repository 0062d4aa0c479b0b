internal import AppAttest
internal import JSON

/// Reads requests: the first judge of a record, before anything is verified.
package struct RequestDecoder: Sendable {
    private let registry: Registry
    private let limits: RequestLimits

    package init(registry: Registry, limits: RequestLimits) {
        self.registry = registry
        self.limits = limits
    }

    /// The path read last and what it means: most records of a batch share theirs. For one decoder only.
    package struct LastPath {
        fileprivate var bytes: [UInt8] = []
        /// As it may be repeated.
        fileprivate var echo = ""
        fileprivate var appID: String?
        fileprivate var target: Result<Target, Reason> = .failure(.malformedRequest)

        package init() {}
    }

    fileprivate struct Target {
        let method: Method
        let app: Int
    }

    package func decode(_ value: [UInt8]) -> RequestDecoding {
        var path = LastPath()
        return decode(value, lastPath: &path)
    }

    /// A pure function of the value's bytes: the size limit, strict UTF-8 JSON, `path`, verb, app, body, judged in
    /// this order.
    package func decode(_ value: [UInt8], lastPath: inout LastPath) -> RequestDecoding {
        guard value.count <= limits.valueBytes else { return .deadLetter(.tooLarge) }
        let root: JSONNode
        do throws(JSONFault) {
            // The value's own length bounds depth and nodes, so what is refused here is never JSON.
            root = try JSONDocument(parsing: value, maxDepth: value.count, maxNodes: value.count).root
        } catch {
            return .deadLetter(.notJSON)
        }
        if root["path"]?.holds(lastPath.bytes.span) != true {
            guard let path = Self.path(of: root) else { return .deadLetter(.noPath) }
            lastPath = read(path)
        }
        do throws(Reason) {
            guard !root.hasDuplicateMembers else { throw .malformedRequest }
            return .request(try request(path: lastPath.echo, target: lastPath.target.get(), body: root["body"]))
        } catch {
            let status = error.status(appID: lastPath.appID)
            return .refused(error, path: lastPath.echo, keyID: Self.readableKeyID(root), status: status)
        }
    }

    private func read(_ bytes: [UInt8]) -> LastPath {
        let echoLength = RequestPath.echoLength(bytes)
        let parsed = echoLength == bytes.count ? RequestPath(bytes) : nil
        var path = LastPath()
        path.bytes = bytes
        path.echo = String(decoding: bytes[..<echoLength], as: UTF8.self)
        path.appID = parsed?.appID
        path.target = Result { () throws(Reason) in
            guard let parsed else { throw .malformedRequest }
            return Target(method: try Self.method(parsed), app: try app(parsed))
        }
        return path
    }

    /// The first string among the members named `path`.
    private static func path(of root: JSONNode) -> [UInt8]? {
        if let path = root["path"]?.stringBytes { return path }
        let name = Array("path".utf8)
        return root.members.first { $0.name == name && $0.value.kind == .string }?.value.stringBytes
    }

    /// The key ID for a refusal's result: only where the body names one without doubt.
    private static func readableKeyID(_ root: JSONNode) -> KeyID? {
        guard !root.hasDuplicateMembers else { return nil }
        return try? RequestBody(root["body"]).keyID()
    }

    private func request(path: String, target: Target, body: JSONNode?) throws(Reason) -> Request {
        let members = try RequestBody(body)
        let keyID = try members.keyID()
        let content: Request.Body
        switch target.method {
        case .verifyAttestation:
            content = .verifyAttestation(
                attestation: try members.attestation(),
                clientDataHash: try members.clientDataHash(limits)
            )
        case .verifyAssertion:
            content = .verifyAssertion(
                assertion: try members.assertion(),
                clientDataHash: try members.clientDataHash(limits)
            )
        case .generateAppAttestChallenge, .exchangeAppAttestAttestation, .exchangeAppAttestAssertion,
            .verifyAppCheckToken:
            throw .unknownMethod
        }
        return Request(path: path, app: target.app, method: target.method, keyID: keyID, body: content)
    }

    /// - Throws: `malformed-request` for a verb on a resource that it is not for, `unknown-method` for one that is not
    ///   served.
    private static func method(_ path: RequestPath) throws(Reason) -> Method {
        guard let method = Method(rawValue: path.verb) else { throw .unknownMethod }
        let wantsProject = method == .verifyAppCheckToken
        var isProject = false
        if case .project = path.resource { isProject = true }
        guard wantsProject == isProject else { throw .malformedRequest }
        switch method {
        case .verifyAttestation, .verifyAssertion: return method
        case .generateAppAttestChallenge, .exchangeAppAttestAttestation, .exchangeAppAttestAssertion,
            .verifyAppCheckToken:
            throw .unknownMethod
        }
    }

    private func app(_ path: RequestPath) throws(Reason) -> Int {
        let index: Int? =
            switch path.resource {
            case .app(let project, let app): registry.find(project: project, app: app)
            case .oauthClient(let client): registry.find(oauthClient: client)
            case .project: nil
            }
        guard let index else { throw .unknownApp }
        return index
    }
}
