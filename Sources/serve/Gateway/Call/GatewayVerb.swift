internal import AppAttest
package import AppCheck

/// The operation that a call asks for, as metrics name it.
package enum GatewayVerb: Hashable, Sendable {
    case exchange(Verb)
    case rollout
    case verify
    case jwks
    case healthz
    /// No path of the gateway, and a call of the exchange contract that is not decoded yet.
    case other

    package var name: String {
        switch self {
        case .exchange(let verb): verb.rawValue
        case .rollout: "rollout"
        case .verify: "verify"
        case .jwks: "jwks"
        case .healthz: "healthz"
        case .other: "other"
        }
    }

    /// The operation of a path that is not a ``VerifyTarget``; ``other`` for those of the exchange contract.
    ///
    /// - Returns: nil where the gateway has no such path.
    init?(_ target: CallTarget) {
        func isPath(_ text: String) -> Bool { target.path.elementsEqual(text.utf8) }
        if isPath("/healthz") {
            self = .healthz
        } else if isPath("/v1/jwks") || isPath("/v1beta/jwks") {
            self = .jwks
        } else if target.verb?.elementsEqual("rollout".utf8) == true {
            self = .rollout
        } else if ExactText(validating: target.path).map(RequestDecoder.isAddress) == true {
            self = .other
        } else {
            return nil
        }
    }

    /// The methods that its path takes.
    var methods: [String] {
        switch self {
        case .exchange, .other: ["POST"]
        case .rollout, .verify, .jwks, .healthz: ["GET", "HEAD"]
        }
    }
}
