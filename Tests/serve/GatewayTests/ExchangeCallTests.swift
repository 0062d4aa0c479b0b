import AppAttest
import AppCheck
import DeviceLab
import Foundation
import Gateway
import HTTP
import JSON
import Kafka
internal import KafkaPorts
import Pipeline
import Settings
import TestKit
import Testing
internal import Threads

@Suite struct ExchangeCallTests {
    private static let path = "/v1/\(ExchangeKit.resource)"

    @Test(arguments: ["v1", "v1beta"], [ExchangeKit.resource, "oauthClients/\(ExchangeKit.client)"])
    func `an exchange goes onto the requests topic as the contract has it`(version: String, resource: String) throws {
        let rig = try GatewayRig()
        let request = ExchangeRequest.attestation(version: version, resource: resource)
        let responder = try rig.send(request, [("x-installation-id", "i-1")])
        let sent = try #require(rig.requests.first)
        #expect(rig.requests.count == 1)
        #expect(sent.value == request.value)
        #expect(sent.key == request.key)
        #expect(sent.partition == Partitioner.murmur2.partition(of: request.key ?? [], count: GatewayRig.partitions))
        #expect(GatewayRig.header("installation-id", of: sent) == Array("i-1".utf8))
        #expect(GatewayRig.id(of: sent).count == 32)
        #expect(responder.reply == nil)
    }

    @Test func `the path is decoded once, and the query is no part of it`() throws {
        let rig = try GatewayRig()
        let request = ExchangeRequest.attestation()
        let root = try JSONDocument(parsing: request.value).root
        let path = try #require(root["path"]?.string).replacing(
            "1:123456789012:ios:",
            with: "1%3A123456789012%3aios%3A"
        )
        let text = String(decoding: request.value, as: UTF8.self)
        let body = try #require(text.range(of: #""body":"#))
        rig.call("POST", "/\(path)?key=AIza&alt=json&$.xgafv=2", body: Array(text[body.upperBound...].dropLast().utf8))
        #expect(rig.requests.first?.value == request.value)
    }

    @Test func `result and token make the answer, in either order`() throws {
        for isTokenFirst in [false, true] {
            let rig = try GatewayRig()
            let responder = try rig.send(.attestation())
            let sent = try #require(rig.requests.first)
            if isTokenFirst { rig.gateway.note(tokens: [rig.token(of: sent)]) }
            #expect(responder.reply == nil)
            rig.gateway.note(results: [rig.result(of: sent)])
            #expect((responder.reply != nil) == isTokenFirst)
            if !isTokenFirst { rig.gateway.note(tokens: [rig.token(of: sent)]) }
            #expect(responder.reply?.status == 200 && responder.body == #"{"token":"t"}"#)
            #expect(responder.reply?.value(of: "Content-Type") == "application/json; charset=UTF-8")
            #expect(rig.gateway.counts.waiting == 0 && rig.gateway.counts.waitingBytes == 0)
        }
    }

    @Test(arguments: [403, 429, 503])
    func `a refusal has Google's JSON and its status`(code: Int) throws {
        let rig = try GatewayRig()
        let responder = try rig.send(.attestation())
        let status = Status(code: code, status: "NAME", message: "A \"message\".")
        rig.gateway.note(results: [rig.result(of: try #require(rig.requests.first), status)])
        #expect(responder.reply?.status == code)
        #expect(responder.body == #"{"error":{"code":\#(code),"message":"A \"message\".","status":"NAME"}}"#)
        #expect(responder.reply?.value(of: "Retry-After") == (code == 503 ? "1" : nil))
    }

    @Test(arguments: [true, false])
    func `a backend's own verbs tell it why, and no other does`(tells: Bool) throws {
        let rig = try GatewayRig()
        let assertion = ExchangeRequest.verifyAssertion(of: FakeDevice(ExchangeKit.model, seed: 3), counter: 1)
        let request = try tells ? assertion : .verification(of: Tokens.limitedUse())
        let responder = try rig.send(request, GatewayRig.bearer)
        let status = Status(code: 403, status: "PERMISSION_DENIED", message: "No.")
        let sent = try #require(rig.requests.first)
        rig.gateway.note(results: [rig.result(of: sent, status, reason: "counter-not-greater")])
        let told = tells ? #","reason":"counter-not-greater""# : ""
        #expect(responder.body == #"{"error":{"code":403,"message":"No.","status":"PERMISSION_DENIED"\#(told)}}"#)
    }

    @Test func `so does the gateway itself for a request that it refuses`() throws {
        let rig = try GatewayRig()
        let responder = rig.call("POST", "\(Self.path):verifyAssertion", GatewayRig.bearer, body: Array("{}".utf8))
        #expect(responder.reply?.status == 400)
        #expect(responder.body.contains(#""reason":"malformed-request""#))
    }

    @Test(arguments: [400, 404], [false, true])
    func `what a worker does not know and this gateway does is 503: the worker's files or version are older`(
        code: Int,
        isOnReplies: Bool
    ) throws {
        let rig = try GatewayRig()
        let responder = try rig.send(.attestation())
        let sent = try #require(rig.requests.first)
        rig.answer(sent, code, isOnReplies: isOnReplies)
        #expect(responder.reply?.status == 503)
        #expect(responder.reply?.value(of: "Retry-After") == "1")
        #expect(rig.gateway.counts.workerBehind == 1)
    }

    @Test func `an answer with another id, key or partition answers no call`() throws {
        let rig = try GatewayRig()
        let responder = try rig.send(.attestation())
        let sent = try #require(rig.requests.first)
        let refusal = Status(code: 403, status: "PERMISSION_DENIED", message: "no")
        var other = rig.result(of: sent, refusal)
        other.key = FakeDevice(ExchangeKit.model, seed: 9).keyID.recordKey
        var elsewhere = rig.result(of: sent, refusal)
        elsewhere.partition = (sent.partition + 1) % GatewayRig.partitions
        let longer = rig.result(of: sent, refusal, id: GatewayRig.id(of: sent) + [0x61])
        let shorter = rig.result(of: sent, refusal, id: GatewayRig.id(of: sent).dropLast())
        var unnamed = rig.result(of: sent, refusal)
        unnamed.headers = []
        var unreadable = rig.result(of: sent, refusal)
        unreadable.headers = nil
        rig.gateway.note(results: [other, elsewhere, longer, shorter, unnamed, unreadable])
        #expect(responder.reply == nil)
        #expect(rig.gateway.counts.foreignReplies == 4)
        rig.gateway.note(results: [rig.result(of: sent, refusal)])
        #expect(responder.reply?.status == 403)
    }

    @Test func `a result that cannot be read leaves its call waiting`() throws {
        let rig = try GatewayRig()
        let responder = try rig.send(.attestation())
        let sent = try #require(rig.requests.first)
        for value in ["", "{}", #"{"status":{"code":99999999999,"status":"","message":""}}"#, "[", #"{"status":1}"#] {
            rig.gateway.note(results: [rig.record(of: sent, Array(value.utf8), status: 403)])
        }
        rig.gateway.note(results: [rig.record(of: sent, [], status: nil)])
        #expect(responder.reply == nil)
    }

    @Test func `answers reach their own calls, however many wait`() throws {
        let rig = try GatewayRig()
        let calls = try (0..<200).map { try rig.send(.attestation(UInt64($0))) }
        let sent = rig.requests
        #expect(Set(sent.map(GatewayRig.id)).count == 200)
        for index in (0..<200).reversed() {
            rig.gateway.note(tokens: [rig.token(of: sent[index], "token \(index)")])
            rig.gateway.note(results: [rig.result(of: sent[index])])
        }
        for (index, call) in calls.enumerated() { #expect(call.body == "token \(index)") }
        for call in calls { #expect(call.replies.withLock { $0.count } == 1) }
    }

    @Test func `after the deadline the outcome is open, and a late answer is a foreign one`() throws {
        let rig = try GatewayRig()
        let responder = try rig.send(.attestation())
        rig.pass(milliseconds: 29_999)
        rig.gateway.poll()
        #expect(responder.reply == nil)
        rig.pass(milliseconds: 1)
        rig.gateway.poll()
        #expect(responder.reply?.status == 504)
        #expect(responder.reply?.value(of: "Retry-After") == nil)
        rig.gateway.note(results: [rig.result(of: try #require(rig.requests.first))])
        #expect(responder.replies.withLock { $0.count } == 1)
        #expect(rig.gateway.counts.deadlines == 1)
        #expect(rig.gateway.counts.foreignReplies == 1)
    }

    @Test(arguments: [false, true])
    func `written calls without any answer are counted in a row, until one comes`(isOnReplies: Bool) throws {
        let rig = try GatewayRig()
        for seed: UInt64 in 1...4 { try rig.send(.attestation(seed)) }
        let sent = rig.requests
        rig.gateway.note(sent.dropLast().compactMap(\.ticket).map { DeliveryReport(ticket: $0, outcome: .written) })
        rig.gateway.note([DeliveryReport(ticket: try #require(sent.last?.ticket), outcome: .unknown)])
        rig.pass(milliseconds: 30_000)
        rig.gateway.poll()
        #expect(rig.gateway.counts.deadlines == 4 && rig.gateway.counts.unanswered == 3)
        let another = rig.record(of: try #require(sent.first), Array("{}".utf8), status: 200)
        rig.gateway.note(results: [another])
        #expect(rig.gateway.counts.unanswered == 3, "an answer of another gateway, or a late one")
        if isOnReplies {
            rig.gateway.note(replies: [another])
        } else {
            try rig.send(.attestation(5))
            rig.gateway.note(results: [rig.result(of: try #require(rig.requests.last))])
        }
        #expect(rig.gateway.counts.unanswered == 0)
    }

    @Test func `only a request that was never written gets 503`() throws {
        let rig = try GatewayRig()
        let calls = try (0..<3).map { try rig.send(.attestation(UInt64($0))) }
        let tickets = rig.requests.compactMap(\.ticket)
        rig.gateway.note([
            DeliveryReport(ticket: tickets[0], outcome: .notWritten),
            DeliveryReport(ticket: tickets[1], outcome: .unknown),
            DeliveryReport(ticket: tickets[2], outcome: .written, offset: 4),
        ])
        #expect(calls[0].reply?.status == 503)
        #expect(calls[0].reply?.headers.contains { $0.name == "Retry-After" } == true)
        #expect(calls[1].reply == nil)
        #expect(calls[2].reply == nil)
        rig.gateway.note(results: [rig.result(of: rig.requests[1], Status(code: 403, status: "S", message: "m"))])
        #expect(calls[1].reply?.status == 403)
        #expect(rig.gateway.counts.notProduced == 1)
        #expect(rig.gateway.counts.maybeProduced == 1)
    }

    @Test func `more calls than may wait get 503 at once, and nothing is produced`() throws {
        let rig = try GatewayRig(settings: { $0.waitingCalls = 2 })
        let calls = try (0..<3).map { try rig.send(.attestation(UInt64($0))) }
        #expect(calls.map { $0.reply?.status } == [nil, nil, 503])
        #expect(rig.requests.count == 2)
        rig.gateway.note(results: [rig.result(of: rig.requests[0], Status(code: 403, status: "S", message: "m"))])
        #expect(try rig.send(.attestation(4)).reply == nil)
    }

    @Test func `the bytes of waiting calls are limited too`() throws {
        let rig = try GatewayRig(settings: { $0.waitingBytes = 12_000 })
        let calls = try (0..<8).map { try rig.send(.attestation(UInt64($0))) }
        #expect(calls.contains { $0.reply?.status == 503 })
        #expect(calls.contains { $0.reply == nil })
        #expect(rig.gateway.counts.waitingBytes <= 12_000)
    }

    @Test func `before the readers stand at the ends, and after the end, nothing is produced`() throws {
        let closed = try GatewayRig(isOpen: false)
        #expect(try closed.send(.attestation()).reply?.status == 503)
        #expect(closed.requests.isEmpty)
        let rig = try GatewayRig()
        let responder = try rig.send(.attestation())
        rig.gateway.close()
        #expect(responder.reply?.status == 504)
        #expect(try rig.send(.attestation(2)).reply?.status == 503)
    }

    @Test(arguments: [200, 403, 503])
    func `a record of the replies topic is a whole answer`(code: Int) throws {
        let rig = try GatewayRig()
        let responder = try rig.send(.attestation())
        let sent = try #require(rig.requests.first)
        var record = rig.record(of: sent, Array(#"{"a":1}"#.utf8), status: code)
        // Its partition is the gateway's.
        record.partition = 40
        rig.gateway.note(replies: [record])
        #expect(responder.reply?.status == code)
        #expect(responder.body == #"{"a":1}"#)
    }

    @Test(arguments: [100, 103, 199, 600], [false, true])
    func `a status that ends no call answers none`(code: Int, isOnReplies: Bool) throws {
        let rig = try GatewayRig()
        let responder = try rig.send(.attestation())
        let sent = try #require(rig.requests.first)
        rig.answer(sent, code, isOnReplies: isOnReplies)
        // The server ends the process upon an answer of such a status.
        #expect(responder.reply == nil)
        rig.gateway.close()
        #expect(responder.reply?.status == 504)
    }
}

extension GatewayRig {
    /// A worker's answer of a status, on one of the two ways.
    fileprivate func answer(_ sent: OutboundRequest, _ code: Int, isOnReplies: Bool) {
        if isOnReplies {
            gateway.note(replies: [record(of: sent, Array("{}".utf8), status: code)])
        } else {
            gateway.note(results: [result(of: sent, Status(code: code, status: "NAME", message: "m"))])
        }
    }
}
