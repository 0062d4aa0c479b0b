internal import AppAttest
internal import AppCheck
internal import HTTP

/// A proxy's question to `/v1/verify`: parameters that the proxy writes, apart from all that its client can write.
///
/// `/v1/verify?app=A` is the proxy's as a whole. A proxy that appends its client's path and query to a prefix has the
/// parameters in the prefix, `/v1/verify;app=A`; what follows in the path, and then every query, is the client's: it is
/// not read, since it could widen what the proxy accepts.
struct VerifyTarget: Equatable {
    /// An app's or OAuth client's id, as tokens have it in `sub`; nil = any.
    private(set) var app: [UInt8]?
    /// A project's number or id; nil = any.
    private(set) var project: [UInt8]?
    /// Whether the token is used up.
    private(set) var consumes = false

    /// Why a target's parameters are refused: a typing error must not turn a check off.
    enum Fault: Error, Equatable {
        case unreadable, unknown, twice, empty, consume

        var sentence: ExactText {
            switch self {
            case .unreadable: "A parameter of this path cannot be read."
            case .unknown: "The parameters of this path are app, project and consume."
            case .twice: "A parameter of this path is given twice."
            case .empty: "The parameters app and project need a value."
            case .consume: "The parameter consume takes 1 and nothing else."
            }
        }
    }

    static let path = Array("/v1/verify".utf8)

    /// - Parameter target: as it was sent.
    /// - Returns: nil for another path.
    static func read(_ target: [UInt8]) -> Result<VerifyTarget, Fault>? {
        guard target.starts(with: path) else { return nil }
        let rest = target[path.count...]
        switch rest.first {
        case nil, UInt8(ascii: "/"): return .success(VerifyTarget())
        case UInt8(ascii: "?"): return Result { () throws(Fault) in try VerifyTarget(rest.dropFirst(), "&") }
        case UInt8(ascii: ";"):
            let own = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            return Result { () throws(Fault) in try VerifyTarget(own, ";") }
        default: return nil
        }
    }

    /// Whether a call is a proxy's whatever its method: it brings a token, or a client's path.
    static func isTaken(_ call: HTTPCall) -> Bool {
        let next = call.target.dropFirst(path.count).first
        return next == UInt8(ascii: "/") || next == UInt8(ascii: ";") || !call.values("x-firebase-appcheck").isEmpty
    }

    private init() {}

    private init(_ text: ArraySlice<UInt8>, _ separator: Unicode.Scalar) throws(Fault) {
        guard let parameters = CallTarget.parameters(text, separator: separator) else { throw .unreadable }
        for parameter in parameters {
            switch parameter.name {
            case Array("app".utf8): try Self.set(&app, parameter.value)
            case Array("project".utf8): try Self.set(&project, parameter.value)
            case Array("consume".utf8):
                guard !consumes else { throw .twice }
                guard parameter.value.elementsEqual("1".utf8) else { throw .consume }
                consumes = true
            default: throw .unknown
            }
        }
    }

    private static func set(_ member: inout [UInt8]?, _ value: [UInt8]) throws(Fault) {
        guard member == nil else { throw .twice }
        guard !value.isEmpty else { throw .empty }
        member = value
    }

    /// Whether a token of these claims is of what is asked for.
    func accepts(_ claims: TokenClaims) -> Bool {
        let isApp = app.map { $0.elementsEqual(claims.subject.utf8) } ?? true
        let projects = [claims.projectNumber] + (claims.projectID.map { [$0] } ?? [])
        return isApp && project.map { name in projects.contains { name.elementsEqual($0.utf8) } } ?? true
    }

    /// Why it is open which tokens are meant to pass; nil = it is not. A token of a project for tests must not pass where
    /// one of another project is meant.
    func doubt(_ rules: GatewayRules) -> ExactText? {
        guard rules.hasSeveralProjects, project == nil else { return nil }
        guard let app else { return "Apps of several projects are configured: name the app or the project." }
        return rules.sharedSubjects.contains(app) ? "Several projects have this app: name the project too." : nil
    }
}
