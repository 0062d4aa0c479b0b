import AppAttest
import AppCheck
import Crypto
import DeviceLab
import Foundation
import Gateway
import HTTP
import JSON
import Kafka
import KafkaPorts
import Pipeline
import Settings
import SimulationKit
import Streams
import TestKit
import Testing
internal import Threads

/// A gateway without a broker and without sockets: calls go in by hand, records and replies are looked at.
final class GatewayRig: Sendable {
    static let secret = "a secret of the backend"
    static let proxy = PeerAddress(bytes: [10, 0, 0, 7])
    static let stranger = PeerAddress(bytes: [192, 0, 2, 1])
    static let partitions: Int32 = 8

    final class Outlet: RequestOutlet {
        let records = Locked<[OutboundRequest]>([])
        func write(_ record: OutboundRequest) { records.withLock { $0.append(record) } }
    }

    final class Responder: HTTPResponder {
        let replies = Locked<[HTTPReply]>([])
        func answer(_ reply: HTTPReply) { replies.withLock { $0.append(reply) } }
        var reply: HTTPReply? { replies.withLock { $0.first } }
        var body: String { String(decoding: reply?.body ?? [], as: UTF8.self) }
    }

    let outlet = Outlet()
    let clock = Locked<Int64>(ExchangeKit.start)
    /// How far the gateway's wall clock is ahead of everyone's.
    let ahead = Locked<Int64>(0)
    let gateway: Gateway
    /// Whether it reads replies; else results and tokens.
    private let readsReplies: Bool

    init(
        app: (inout RegisteredApp) -> Void = { _ in },
        settings: (inout GatewaySettings) -> Void = { _ in },
        isOpen: Bool = true,
        replyTo: Int32? = nil
    ) throws {
        readsReplies = replyTo != nil
        let rules = try Self.rules(app: app, settings: settings)
        let topics = GatewayTopics(
            names: .standard,
            partitions: Self.partitions,
            partitioner: .murmur2,
            replyTo: replyTo
        )
        // Each bytes differ from the last ones.
        let counter = Locked<UInt8>(0)
        let dependencies = Gateway.Dependencies(
            wallClock: { [clock, ahead] in clock.withLock { $0 } + ahead.withLock { $0 } },
            uptime: { [clock] in clock.withLock { $0 } },
            randomBytes: { count in
                let byte = counter.withLock { counter in
                    counter &+= 1
                    return counter
                }
                return [UInt8](repeating: byte, count: count)
            }
        )
        gateway = Gateway(rules, topics: topics, dependencies: dependencies, outlet: outlet)
        if isOpen { gateway.open() }
    }

    /// - Parameters:
    ///   - registry: the apps; nil = ExchangeKit's, the first of them changed by `app`.
    ///   - challenges: the seeds of challenge keys.
    ///   - revoked: a signing key.
    static func rules(
        _ registry: Registry? = nil,
        app: (inout RegisteredApp) -> Void = { _ in },
        settings: (inout GatewaySettings) -> Void = { _ in },
        challenges: [UInt8] = [2],
        revoked: String? = nil,
        ttl: Int64 = 300_000
    ) throws -> GatewayRules {
        var configuration = Configuration()
        if let revoked {
            let list = #""signingKeys":[{"kid":"\#(revoked)","file":"gone.pem","state":"revoked"}]"#
            configuration = try ConfigurationDirectory(worker: ConfigurationDirectory.worker(list)).load()
        }
        configuration.challenges.ttlMilliseconds = ttl
        configuration.registry = try registry ?? ExchangeKit.registry(app)
        configuration.gateway.trustedProxies = [NetworkPrefix("10.0.0.0/8")].compactMap { $0 }
        settings(&configuration.gateway)
        let line = "backend " + Hexadecimal.encode(SHA256.hash(Array(secret.utf8)).bytes)
        let set = try ExchangeKit.keys().tokens.jsonWebKeySet
        return GatewayRules(
            configuration,
            challenges: try ExchangeKit.ring(challenges),
            verifiers: try Verifiers(Array(line.utf8)),
            keySet: (set, try VerificationKeys(jsonWebKeySet: set))
        )
    }

    @discardableResult
    func call(
        _ method: String = "POST",
        _ target: String,
        _ headers: [(String, String)] = [],
        body: [UInt8] = [],
        from peer: PeerAddress = GatewayRig.stranger
    ) -> Responder {
        let responder = Responder()
        let headers = headers.map { HTTPHeader(name: Array($0.utf8), value: Array($1.utf8)) }
        gateway.handle(
            HTTPCall(
                method: Array(method.utf8),
                target: Array(target.utf8),
                headers: headers,
                body: body,
                peer: peer
            ),
            responder
        )
        return responder
    }

    /// A call with what `request` holds, as a client would send it.
    @discardableResult
    func send(
        _ request: ExchangeRequest,
        _ headers: [(String, String)] = [],
        from peer: PeerAddress = GatewayRig.stranger
    ) throws -> Responder {
        let root = try JSONDocument(parsing: request.value).root
        let text = String(decoding: request.value, as: UTF8.self)
        // The body's bytes as they stand behind their name.
        let body = text.range(of: #""body":"#).map { String(text[$0.upperBound...].dropLast()) } ?? ""
        return call("POST", "/" + (root["path"]?.string ?? ""), headers, body: Array(body.utf8), from: peer)
    }

    static let bearer = [("authorization", "Bearer \(secret)")]

    var records: [OutboundRequest] { outlet.records.withLock { $0 } }
    var requests: [OutboundRequest] { records.filter { $0.topic == "appattest.requests" } }

    func pass(milliseconds: Int64) { clock.withLock { $0 += milliseconds } }

    // MARK: The broker's and the worker's part

    /// A broker has written the last request.
    ///
    /// - Parameter timestamp: by the broker's clock.
    func acknowledge(at timestamp: Int64? = nil, broker: Int32? = nil) throws {
        let ticket = try #require(requests.last?.ticket)
        let report = DeliveryReport(ticket: ticket, outcome: .written, offset: 0, timestamp: timestamp, broker: broker)
        gateway.note([report])
    }

    /// Lets a worker judge a request, and takes its answers.
    @discardableResult
    func relay(_ request: OutboundRequest, to worker: ExchangeRig) throws -> ExchangeAnswers {
        let others = request.headers.filter { !$0.name.elementsEqual("request-id".utf8) }
        let id = String(decoding: Self.id(of: request), as: UTF8.self)
        let asked = ExchangeRequest(request.value, key: request.key, headers: others).with(id: id)
        let answers = try worker.send(asked)
        for output in answers.outputs {
            var record = record(of: request, output.value ?? [], status: nil)
            record.headers = output.headers
            switch (output.stream, readsReplies) {
            case (.results, false): gateway.note(results: [record])
            case (.tokens, false): gateway.note(tokens: [record])
            case (.replies, true): gateway.note(replies: [record])
            default: break
            }
        }
        return answers
    }

    /// A result as a worker writes it.
    func result(
        of request: OutboundRequest,
        _ status: Status = .ok,
        response: String? = nil,
        reason: String? = nil,
        id: [UInt8]? = nil
    ) -> TopicRecord {
        var json = JSONWriter()
        json.beginObject()
        if let reason { json.member("reason", reason) }
        json.key("status")
        json.beginObject()
        json.member("code", status.code)
        json.member("status", status.status)
        json.member("message", validUTF8: status.message.utf8)
        json.endObject()
        if let response { json.member("response", raw: Array(response.utf8)) }
        json.endObject()
        return record(of: request, json.takeBytes(), status: status.code, id: id)
    }

    func token(of request: OutboundRequest, _ text: String = #"{"token":"t"}"#) -> TopicRecord {
        record(of: request, Array(text.utf8), status: nil)
    }

    func record(of request: OutboundRequest, _ value: [UInt8], status: Int?, id: [UInt8]? = nil) -> TopicRecord {
        var headers = [RecordHeader(name: Array("request-id".utf8), value: id ?? Self.id(of: request))]
        if let status { headers.append(RecordHeader("status", "\(status)")) }
        return TopicRecord(
            partition: request.partition,
            offset: 1,
            key: request.key,
            value: value,
            timestamp: clock.withLock { $0 },
            headers: headers
        )
    }

    static func id(of request: OutboundRequest) -> [UInt8] { header("request-id", of: request) ?? [] }

    static func header(_ name: String, of request: OutboundRequest) -> [UInt8]? {
        request.headers.last { $0.name.elementsEqual(name.utf8) }?.value
    }
}

extension ExchangeRequest {
    /// A device's attestation for a challenge that no gateway made.
    static func attestation(
        _ seed: UInt64 = 1,
        version: String = "v1",
        resource: String = ExchangeKit.resource
    ) -> Self {
        let (device, challenge) = (FakeDevice(ExchangeKit.model, seed: seed), [UInt8](repeating: 7, count: 59))
        return .attestation(of: device, challenge: challenge, resource: resource, version: version)
    }
}

extension HTTPReply {
    func value(of header: String) -> String? { headers.first { $0.name == header }?.value }
}
