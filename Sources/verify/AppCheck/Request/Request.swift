package import AppAttest

/// A request whose shape is known: path resolved, bodies decoded from base64, nothing verified. Shared by the stages, so
/// that passing it on costs one reference.
package final class Request: Sendable {
    /// The app or project that the path names, resolved in the registry. Indices are into ``Registry/apps``.
    package enum Resource: Sendable, Equatable {
        /// A Firebase app, with its app id.
        case app(Int, appID: ExactText)
        /// An OAuth client, with its client id and the app that it is linked to.
        case oauthClient(Int, clientID: ExactText)
        /// A project alone, by its number, however it was named: verifyAppCheckToken only.
        case project(number: String)

        /// Index into the registry's apps; nil for a project alone.
        package var app: Int? {
            switch self {
            case .app(let index, _), .oauthClient(let index, _): index
            case .project: nil
            }
        }
    }

    /// The resource path as received.
    package let path: ExactText
    package let resource: Resource
    /// Whether the path has `v1beta`: answers then fill the deprecated mirrors too.
    package let isBeta: Bool
    package let verb: Verb
    /// The body's key ID, or that of the artifact in it; nil for generateAppAttestChallenge, exchangeDebugToken and
    /// verifyAppCheckToken alone.
    package let keyID: KeyID?
    /// verifyAppCheckToken only: the `jti` that the token claims, unverified, 1 to 250 bytes.
    package let unverifiedTokenID: [UInt8]?
    package let body: Body
    /// nil for a verb without an object of the exchange.
    package let exchange: Exchange?
    /// Whether an exchange asks for a limited-use token; nil for a verb that gets none.
    package let limitedUse: Bool?

    package init(
        path: ExactText,
        resource: Resource,
        isBeta: Bool = false,
        verb: Verb,
        keyID: KeyID?,
        unverifiedTokenID: [UInt8]? = nil,
        body: Body
    ) {
        (self.path, self.resource, self.isBeta, self.verb) = (path, resource, isBeta, verb)
        (self.keyID, self.unverifiedTokenID, self.body) = (keyID, unverifiedTokenID, body)
        switch body {
        case .object(_, .exchange(let exchange)): (self.exchange, limitedUse) = (exchange, exchange.limitedUse)
        case .debugToken(_, let limitedUse): (exchange, self.limitedUse) = (nil, limitedUse)
        case .object, .generateChallenge, .verifyToken, .receipt: (exchange, limitedUse) = (nil, nil)
        }
    }

    /// Index into the registry's apps; nil where the path names a project alone.
    package var appIndex: Int? { resource.app }

    /// Index into the registry's apps.
    ///
    /// - Precondition: the request is not of verifyAppCheckToken, which names a project and no app.
    package var app: Int {
        guard let app = resource.app else { preconditionFailure("a project is not an app") }
        return app
    }

    /// The app or OAuth client as the caller named it; nil where the path names a project alone.
    package var appID: ExactText? {
        switch resource {
        case .app(_, let appID): appID
        case .oauthClient(_, let clientID): clientID
        case .project: nil
        }
    }

    /// The key that the record must have; nil = any, or none.
    ///
    /// State lives in the partition of its record key: counters under the key ID, consumed tokens under the `jti`. A
    /// challenge is made without state.
    package var requiredRecordKey: [UInt8]? { keyID?.recordKey ?? unverifiedTokenID }
}
