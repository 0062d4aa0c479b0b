package import AppAttest
internal import JSON

/// The app and verb that a request's path names: refusals are counted by them.
package struct RequestAccount: Hashable, Sendable {
    /// Index into ``Registry/apps``; nil where the path names no app of the registry.
    package let app: Int?
    /// nil for a verb that is not served.
    package let verb: Verb?
}

extension RequestDecoder {
    /// Whether the exchange contract has such a path, of whatever app: with a served verb, or another provider's.
    package static func isAddress(_ path: ExactText) -> Bool {
        guard let parsed = RequestPath(path.utf8) else { return false }
        return Verb(name: parsed.verb) != nil || otherExchanges.contains(parsed.verb)
    }

    /// The client data that a request's value states; nil where it states a hash, or cannot be read.
    package static func clientData(of value: [UInt8]) -> [UInt8]? {
        var beginning: JSONBeginning?
        guard let root = try? JSONDocument(parsing: value, .record, beginning: &beginning).root else { return nil }
        return (try? RequestBody(root["body"], NoTrace()))?.clientData
    }

    /// - Parameter path: as it was echoed, whatever the outcome of its request.
    package static func account(of path: ExactText, in registry: Registry) -> RequestAccount {
        guard let parsed = RequestPath(path.utf8) else { return RequestAccount(app: nil, verb: nil) }
        let app: Int? =
            switch parsed.resource {
            case .app(let project, let app): registry.find(project: project, app: app)
            case .oauthClient(let client): registry.find(oauthClient: client)
            case .project: nil
            }
        let verb = Verb(name: parsed.verb)
        // Apps without debug tokens do not serve the one verb, and where no app keeps receipts nobody serves the other.
        let isServed =
            verb?.token == .debug
            ? app.map { !registry.apps[$0].debugTokens.isEmpty } == true
            : verb?.content != .receipt || registry.keepsReceipts
        return RequestAccount(app: app, verb: isServed ? verb : nil)
    }
}
