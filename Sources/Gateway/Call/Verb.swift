package import AppCheck

/// The operation that a call asks for, as metrics name it.
package enum Verb: Hashable, Sendable, CaseIterable {
    case exchange(Method)
    case rollout
    case verify
    case jwks
    case healthz
    /// No path of the gateway.
    case other

    package static let allCases =
        Method.allCases.map { Verb.exchange($0) } + [.rollout, .verify, .jwks, .healthz, .other]

    package var name: String {
        switch self {
        case .exchange(let method): method.rawValue
        case .rollout: "rollout"
        case .verify: "verify"
        case .jwks: "jwks"
        case .healthz: "healthz"
        case .other: "other"
        }
    }
}
