package import AppCheck

/// Refusals and deferrals by app, verb and reason. Only the two exchanges have events: these counts report challenges,
/// unregistered apps, other verbs and tokens.
package struct RefusalCounts: Sendable, Equatable {
    package struct Key: Hashable, Sendable {
        /// ``RegisteredApp/name``; nil where the path names no app of the registry, as verifyAppCheckToken never does.
        package let app: String?
        /// nil for a verb that is not served.
        package let verb: Verb?
        package let reason: Reason

        package init(app: String?, verb: Verb?, reason: Reason) {
            (self.app, self.verb, self.reason) = (app, verb, reason)
        }
    }

    package private(set) var counts: [Key: Int] = [:]

    package subscript(key: Key) -> Int { counts[key] ?? 0 }

    /// The counts in the order of apps, verbs and reasons.
    package var lines: [(key: Key, count: Int)] {
        func order(_ key: Key) -> [String] { [key.app ?? "", key.verb?.rawValue ?? "", key.reason.code] }
        return counts.map { ($0.key, $0.value) }.sorted { order($0.0).lexicographicallyPrecedes(order($1.0)) }
    }

    mutating func add(_ key: Key) { counts[key, default: 0] += 1 }

    mutating func add(_ other: RefusalCounts) {
        if !other.counts.isEmpty { counts.merge(other.counts, uniquingKeysWith: +) }
    }

    /// Counts a verdict's refusal or deferral, if it is one.
    mutating func add(_ decoded: DecodedRecord, _ verdict: Verdict, in registry: Registry) {
        switch verdict.outcome {
        case .accepted, .deadLetter, .applied: return
        case .refused(let reason, _), .deferred(let reason, _):
            let (app, verb): (Int?, Verb?)
            switch decoded.shape {
            case .deadLetter: return
            case .command: (app, verb) = (nil, nil)
            case .request(let request): (app, verb) = (request.appIndex, request.verb)
            case .refused(_, let path, _, _):
                let account = RequestDecoder.account(of: path, in: registry)
                (app, verb) = (account.app, account.verb)
            }
            add(Key(app: app.map { registry.apps[$0].name }, verb: verb, reason: reason))
        }
    }
}
