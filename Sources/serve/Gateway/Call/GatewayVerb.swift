package import AppCheck

/// The operation that a call asks for, as metrics name it.
package enum GatewayVerb: Hashable, Sendable, CaseIterable {
    case exchange(Verb)
    case rollout
    case verify
    case jwks
    case healthz
    /// No path of the gateway.
    case other

    package static let allCases =
        Verb.allCases.map { GatewayVerb.exchange($0) } + [.rollout, .verify, .jwks, .healthz, .other]

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
}
