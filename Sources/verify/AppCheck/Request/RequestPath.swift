internal import AppAttest

/// A REST path, taken apart: `[/]v1|v1beta/{resource}:{verb}`. Nothing is percent-decoded.
struct RequestPath: Equatable {
    enum Resource: Equatable {
        case app(project: ExactText, app: ExactText)
        case oauthClient(ExactText)
        case project(ExactText)

        var name: ExactText {
            switch self {
            case .app(let project, let app): "projects/\(project)/apps/\(app)"
            case .oauthClient(let client): "oauthClients/\(client)"
            case .project(let project): "projects/\(project)"
            }
        }
    }

    let isBeta: Bool
    let resource: Resource
    let verb: ExactText
    /// Whether the resource has the right shape but a name in it is empty: no resource has such a name.
    var hasEmptyName: Bool {
        switch resource {
        case .app(let project, let app): project.utf8.isEmpty || app.utf8.isEmpty
        case .oauthClient(let name), .project(let name): name.utf8.isEmpty
        }
    }

    /// Several times the longest path that Google's names allow.
    static let maxBytes = 1_024

    /// - Parameter path: UTF-8, without `?` and `#`.
    /// - Returns: nil unless the path has this shape and no more than ``maxBytes``; names in it may be empty.
    init?(_ path: [UInt8]) {
        guard path.count <= Self.maxBytes else { return nil }
        // App ids hold colons, so the verb starts at the last one.
        guard let colon = path.lastIndex(of: UInt8(ascii: ":")) else { return nil }
        let verb = path[(colon + 1)...]
        guard !verb.isEmpty, !verb.contains(UInt8(ascii: "/")) else { return nil }
        var segments = Segments(path: path, position: path.first == UInt8(ascii: "/") ? 1 : 0, end: colon)
        isBeta = segments.skip("v1beta")
        guard isBeta || segments.skip("v1") else { return nil }
        if segments.skip("oauthClients") {
            guard let client = segments.next() else { return nil }
            resource = .oauthClient(client)
        } else {
            guard segments.skip("projects"), let project = segments.next() else { return nil }
            if segments.isAtEnd {
                resource = .project(project)
            } else {
                guard segments.skip("apps"), let app = segments.next() else { return nil }
                resource = .app(project: project, app: app)
            }
        }
        guard segments.isAtEnd, let verb = ExactText(validating: Array(verb)) else { return nil }
        self.verb = verb
    }

    /// The app as the caller named it.
    var appID: ExactText? {
        switch resource {
        case .app(_, let app): app
        case .oauthClient(let client): client
        case .project: nil
        }
    }

    /// How much of a path may be echoed: a query or fragment may hold secrets.
    static func echoLength(_ path: [UInt8]) -> Int {
        path.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? path.count
    }

    /// The parts between the slashes, one after another.
    private struct Segments {
        let path: [UInt8]
        /// The start of the next segment; beyond `end` when all are read.
        var position: Int
        let end: Int

        var isAtEnd: Bool { position > end }

        /// Takes the next segment if it is `word`.
        mutating func skip(_ word: String) -> Bool {
            let stop = position + word.utf8.count
            guard stop <= end, stop == end || path[stop] == UInt8(ascii: "/") else { return false }
            guard path[position..<stop].elementsEqual(word.utf8) else { return false }
            position = stop + 1
            return true
        }

        /// Takes the next segment, which may be empty; nil if there is none.
        mutating func next() -> ExactText? {
            guard position <= end else { return nil }
            let stop = path[position..<end].firstIndex(of: UInt8(ascii: "/")) ?? end
            defer { position = stop + 1 }
            return ExactText(validating: Array(path[position..<stop]))
        }
    }
}
