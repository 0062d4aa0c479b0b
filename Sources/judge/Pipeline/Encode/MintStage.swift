internal import AppAttest
internal import AppCheck
internal import Crypto
internal import Streams
internal import Threads

/// Mint (lanes): tokens, artifacts and challenges of accepted requests, as the REST answers for the tokens topic.
package struct MintStage: Sendable {
    private let settings: PipelineSettings
    /// The common beginning of all tokens of an app, by its index; nil where it has no active key.
    private let appTemplates: [Template?]
    /// The common beginning of all tokens of an OAuth client.
    private let clientTemplates: [Client: Template]
    private let shared: SharedTokens
    /// The scratches that no lane uses at the moment: at most as many as there are lanes.
    private let scratches = Locked<[SigningScratch]>([])

    private struct Client: Hashable {
        let app: Int
        let id: ExactText
    }

    private struct Template {
        /// The name of app and subject together.
        let name: ExactText
        let tokens: TokenTemplate
        /// The template of debug tokens; nil for an app without them.
        let debug: TokenTemplate?
        let ids: TokenIDs
    }

    package init(settings: PipelineSettings) {
        self.settings = settings
        shared = SharedTokens()
        func template(_ app: RegisteredApp, _ subject: String) -> Template? {
            settings.exchange.keys.tokens.active(app.tokens.algorithm).map { key in
                func tokens(isDebug: Bool) -> TokenTemplate {
                    TokenTemplate(
                        subject: subject,
                        projectNumber: app.projectNumber,
                        projectID: app.projectID,
                        key: key,
                        isDebug: isDebug
                    )
                }
                return Template(
                    name: "\(app.name)/\(subject)",
                    tokens: tokens(isDebug: false),
                    debug: app.debugTokens.isEmpty ? nil : tokens(isDebug: true),
                    ids: TokenIDs(app: app.name, subject: subject)
                )
            }
        }
        appTemplates = settings.registry.apps.map { template($0, $0.appID) }
        var clients: [Client: Template] = [:]
        for (index, app) in settings.registry.apps.enumerated() {
            for id in app.oauthClientIDs { clients[Client(app: index, id: ExactText(id))] = template(app, id) }
        }
        clientTemplates = clients
    }

    /// The answers to a grain's accepted exchanges; their tokens are signed together. None in a replay that only judges.
    ///
    /// - Parameter work: notes the records that are touched.
    func answers(
        _ range: Range<Int>,
        _ records: [DecodedRecord],
        _ verdicts: Span<Verdict>,
        work: WorkSlot
    ) -> GrainAnswers {
        var answers = GrainAnswers(range)
        guard settings.exchange.mints else { return answers }
        var drafts: [Draft] = []
        for index in range {
            // The order is looked at first: most records have none, and unwrapping a request copies all of it.
            guard let order = verdicts[index].order, let request = records[index].request else { continue }
            work.note(records[index])
            switch order {
            case .verification: break
            case .challenge(let time):
                let life = ProtoDuration(milliseconds: settings.exchange.challenges.ttlMilliseconds)
                answers[index] = challenge(at: time, records[index], request).map {
                    ExchangeAnswer.challenge($0, ttl: life)
                }
            case .attestation(_, let times, _), .assertion(let times, _), .debugToken(let times, _):
                // A shared token is signed here.
                if settings.exchange.signsElsewhere { work.noteStep() }
                switch token(times, records[index], request) {
                case .shared(let token)?: answers[index] = answer(order, token, isBeta: request.isBeta)
                case .own(let token)?: drafts.append(Draft(index: index, token: token, isBeta: request.isBeta))
                case .unsigned(let kind)?: answers.unsigned.insert(SigningKey.Kinds(kind))
                case nil: break
                }
            }
        }
        sign(&drafts, verdicts, work, into: &answers)
        return answers
    }

    /// An answer that waits for its token's signature.
    private struct Draft {
        let index: Int
        var token: UnsignedToken
        let isBeta: Bool
    }

    private func sign(
        _ drafts: inout [Draft],
        _ verdicts: Span<Verdict>,
        _ work: WorkSlot,
        into answers: inout GrainAnswers
    ) {
        guard !drafts.isEmpty else { return }
        work.noteAll()
        let scratch = scratches.withLock { $0.popLast() } ?? SigningScratch()
        let signatures = settings.exchange.signer.sign(drafts.map(\.token.request), scratch, step: work.noteStep)
        scratches.withLock { $0.append(scratch) }
        for (number, signature) in signatures.enumerated() {
            let (index, isBeta) = (drafts[number].index, drafts[number].isBeta)
            guard !signature.isEmpty else {
                answers.unsigned.insert(SigningKey.Kinds(drafts[number].token.request.key.kind))
                continue
            }
            let token = drafts[number].token.finish(signature)
            answers[index] = verdicts[index].order.flatMap { answer($0, token, isBeta: isBeta) }
        }
    }

    private func answer(_ order: MintOrder, _ token: [UInt8], isBeta: Bool) -> [UInt8]? {
        switch order {
        case .verification, .challenge: return nil
        case .attestation(let artifact, let times, let now):
            guard let key = settings.exchange.keys.sealing.active else { return nil }
            return ExchangeAnswer.attestation(
                artifact: key.seal(artifact),
                token: token,
                ttl: times.remaining(at: now),
                isBeta: isBeta
            )
        case .assertion(let times, let now), .debugToken(let times, let now):
            return ExchangeAnswer.assertion(token: token, ttl: times.remaining(at: now), isBeta: isBeta)
        }
    }

    private func challenge(at time: EvaluationTime, _ record: DecodedRecord, _ request: Request) -> [UInt8]? {
        guard let key = settings.exchange.keys.challenges.active, let app = request.appIndex else { return nil }
        let place = record.record
        let random =
            settings.exchange.randomBytes?(ChallengeKey.randomBytes)
            ?? key.replayRandom(topic: place.topic, partition: place.partition, offset: place.offset)
        return key.seal(app: settings.registry.apps[app].name, issuedAt: time, random: random)
    }

    /// One token for many records, or a record's own, which lacks its signature; or none, since a key of the kind does not
    /// sign.
    private enum Token {
        case shared([UInt8])
        case own(UnsignedToken)
        case unsigned(SigningKey.Kind)
    }

    private func token(_ times: TokenTimes, _ record: DecodedRecord, _ request: Request) -> Token? {
        guard let template = template(of: request) else { return nil }
        if case .debugToken(let hash, _) = request.body {
            guard let hash, let tokens = template.debug else { return nil }
            let id = template.ids.id(requestID: record.requestID, valueDigest: record.valueDigest, holder: hash)
            return .own(tokens.draft(times, id: id))
        }
        guard let keyID = record.keyID else { return nil }
        if settings.registry.apps[request.app].tokens.sharedSessionTokens, !times.isLimitedUse {
            let token = shared.token(of: template.name, times) {
                template.tokens.mint(times, id: template.ids.shared(times))
            }
            return token.map { .shared($0) } ?? .unsigned(template.tokens.key.key.kind)
        }
        let id = template.ids.id(requestID: record.requestID, valueDigest: record.valueDigest, keyID: keyID)
        return .own(template.tokens.draft(times, id: id))
    }

    /// Tokens name the registry's own id, however the path named it.
    private func template(of request: Request) -> Template? {
        switch request.resource {
        case .app(let index, _): appTemplates[index]
        case .oauthClient(let index, let id): clientTemplates[Client(app: index, id: id)]
        case .project: nil
        }
    }
}

/// Answers for the tokens topic, for some records of a grain.
struct GrainAnswers {
    private let range: Range<Int>
    /// Empty until there is one.
    private var answers: [[UInt8]?] = []
    /// The keys that did not sign a token of these records.
    var unsigned: SigningKey.Kinds = []

    init(_ range: Range<Int>) { self.range = range }

    subscript(index: Int) -> [UInt8]? {
        get { answers.isEmpty ? nil : answers[index - range.lowerBound] }
        set {
            if answers.isEmpty { answers = Array(repeating: nil, count: range.count) }
            answers[index - range.lowerBound] = newValue
        }
    }
}

/// Session tokens of one app and second, signed once. Only for apps that ask for it: all who asked in that second hold
/// the same token, so it does not identify any of them.
final class SharedTokens: Sendable {
    private struct Key: Hashable {
        let subject: ExactText
        let times: TokenTimes
    }

    /// How many seconds are kept: batches overlap, and a redelivery may be a little older.
    private static let most = 64
    private let tokens = Locked<(byKey: [Key: [UInt8]], order: [Key])>(([:], []))

    func token(of subject: ExactText, _ times: TokenTimes, mint: () -> [UInt8]?) -> [UInt8]? {
        let key = Key(subject: subject, times: times)
        if let token = tokens.withLock({ $0.byKey[key] }) { return token }
        // Outside the lock: two lanes may sign the same token twice, and the first one counts.
        guard let fresh = mint() else { return nil }
        return tokens.withLock { state in
            if let token = state.byKey[key] { return token }
            state.byKey[key] = fresh
            state.order.append(key)
            if state.order.count > Self.most { state.byKey[state.order.removeFirst()] = nil }
            return fresh
        }
    }
}
