internal import AppAttest
internal import AppCheck

/// The resource that a path of the gateway names, other than those of ``VerifyTarget``.
enum Endpoint {
    case healthz, keySet, rollout
    /// A call of the exchange contract.
    case exchange

    /// - Returns: nil where the gateway has no such path.
    init?(_ target: CallTarget) {
        func isPath(_ text: String) -> Bool { target.path.elementsEqual(text.utf8) }
        if isPath("/healthz") {
            self = .healthz
        } else if isPath("/v1/jwks") || isPath("/v1beta/jwks") {
            self = .keySet
        } else if target.verb?.elementsEqual("rollout".utf8) == true {
            self = .rollout
        } else if ExactText(validating: target.path).map(RequestDecoder.isAddress) == true {
            self = .exchange
        } else {
            return nil
        }
    }

    /// The methods that it takes.
    var methods: [String] {
        switch self {
        case .healthz, .keySet, .rollout: Self.read
        case .exchange: ["POST"]
        }
    }

    static let read = ["GET", "HEAD"]

    static func takes(_ method: [UInt8], _ methods: [String]) -> Bool {
        methods.contains { method.elementsEqual($0.utf8) }
    }
}
