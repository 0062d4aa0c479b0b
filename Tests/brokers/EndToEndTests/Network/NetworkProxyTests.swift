import BrokerKit
import ChaosKit
import Foundation
import TestKit
import Testing

/// A network before one imitated broker.
private struct Wire {
    let broker: FakeBroker
    let network: NetworkProxy
    let port: UInt16

    init() throws {
        broker = try FakeBroker()
        port = try BrokerPorts.freePort()
        network = try NetworkProxy([.init(listen: port, broker: broker.port)])
    }

    func client() throws -> FakeClient { try FakeClient(port: port) }

    func keys() -> [APIKey] { broker.received.map(\.key) }
}

@Suite("The network of the tests", .waiting)
struct NetworkProxyTests {
    @Test(arguments: [0, 2, 3] as [Int16])
    func `a request header is read in every version`(version: Int16) throws {
        let frame = FakeRequest.frame(.endTransaction, version: version, id: 7, transactionalID: "worker-1")
        let head = try #require(RequestHead(frame))
        #expect(head.key == .endTransaction && head.correlationID == 7)
        #expect(head.transactionalID == Array("worker-1".utf8))
        // Cut short anywhere it is read as far as it goes, and no further.
        for length in 0..<frame.count {
            let cut = RequestHead(Array(frame.prefix(length)))
            #expect((cut != nil) == (length >= 12))
            #expect(cut?.transactionalID == nil)
        }
    }

    @Test func `without faults everything passes in order, on every connection`() throws {
        let wire = try Wire()
        let clients = try (0..<3).map { _ in try wire.client() }
        for id in 0..<100 as Range<Int32> {
            for client in clients { client.send(FakeRequest.frame(.metadata, id: id, padding: Int(id) * 300)) }
        }
        for client in clients {
            #expect(client.hasAnswers(100))
            #expect(client.answers == Array(0..<100))
        }
        #expect(wire.broker.received.count == 300)
        #expect(wire.network.events.connections == 3)
    }

    private static let cuts: [NetworkFault.Action] = [.cutBefore, .cutBeforeAnswer, .cutBehindAnswer]
    private static let delays: [NetworkFault.Action] = [.delay(.milliseconds(200)), .delayAnswer(.milliseconds(200))]

    @Test(arguments: cuts + delays + [.swallow, .swallowAnswer])
    func `a fault hits only the request that it is meant for`(fate: NetworkFault.Action) throws {
        let (isCut, isDelayed) = (Self.cuts.contains(fate), Self.delays.contains(fate))
        let isAnswered = isDelayed || fate == .cutBehindAnswer
        let wire = try Wire()
        var fault = NetworkFault(fate, .endTransaction)
        fault.skips = 2
        let number = wire.network.plan(fault)
        let (client, other) = (try wire.client(), try wire.client())
        let start = ContinuousClock.now
        client.send(FakeRequest.frame(.endTransaction, id: 1, transactionalID: "t"))
        client.send(FakeRequest.frame(.endTransaction, id: 2, transactionalID: "t"))
        #expect(client.hasAnswers(2) && wire.network.events.done.isEmpty)
        client.send(FakeRequest.frame(.endTransaction, id: 3, transactionalID: "t"))
        #expect(client.hasAnswers(3, seconds: isAnswered ? 10 : 1) == isAnswered)
        #expect(client.ends(seconds: isCut ? 10 : 0) == isCut)
        #expect(wire.network.wait { $0.done == [number] })
        if isDelayed { #expect(ContinuousClock.now - start >= .milliseconds(200)) }
        // Another connection, and the next request, go their way.
        other.send(FakeRequest.frame(.endTransaction, id: 4, transactionalID: "t"))
        #expect(other.hasAnswers(1))
        let arrives = fate != .cutBefore && fate != .swallow
        #expect(wire.broker.received.map(\.correlationID) == (arrives ? [1, 2, 3, 4] : [1, 2, 4]))
        guard !isCut else { return }
        client.send(FakeRequest.frame(.metadata, id: 5))
        #expect(client.hasAnswers(isAnswered ? 4 : 3))
    }

    @Test func `a held frame arrives late, on its own connection`() throws {
        let wire = try Wire()
        let number = wire.network.plan(NetworkFault(.hold(.byHand), .transactionOffsetCommit))
        let client = try wire.client()
        client.send(FakeRequest.frame(.transactionOffsetCommit, version: 3, id: 1, transactionalID: "t"))
        #expect(client.ends() && wire.broker.received.isEmpty)
        let again = try wire.client()
        again.send(FakeRequest.frame(.transactionOffsetCommit, version: 3, id: 2, transactionalID: "t"))
        #expect(again.hasAnswers(1))
        wire.network.deliver(number)
        #expect(wire.network.wait { $0.delivered.count == 1 })
        #expect(wire.broker.received.map(\.correlationID) == [2, 1])
        #expect(again.answers == [2])
        #expect(wire.network.events.held.first?.metLaterTransaction == false)
    }

    @Test(arguments: APIKey.transactional)
    func `a held frame is released after the next transaction's first Produce, which waits for its answer`(
        key: APIKey
    ) throws {
        let wire = try Wire()
        wire.network.plan(NetworkFault(.hold(.behindNext(.produce)), key))
        func send(_ key: APIKey, _ id: Int32, _ client: FakeClient, _ transaction: String = "t") {
            client.send(FakeRequest.frame(key, version: 3, id: id, transactionalID: transaction))
        }
        let first = try wire.client()
        send(key, 1, first)
        #expect(first.ends())
        let client = try wire.client()
        // The repeat; a Produce of the same transaction; the end; another producer's Produce; then the next one.
        for (id, next) in [key, .produce, .endTransaction].enumerated() where !(key == .endTransaction && id > 0) {
            send(next, Int32(10 + id), client)
        }
        send(.produce, 20, client, "another")
        #expect(client.hasAnswers(key == .endTransaction ? 2 : 4))
        #expect(wire.network.events.held.map(\.state) == [.held])
        send(.produce, 30, client)
        send(.endTransaction, 31, client)
        #expect(wire.network.wait { $0.delivered.count == 1 })
        #expect(client.hasAnswers(key == .endTransaction ? 4 : 6))
        #expect(Array(wire.broker.received.map(\.correlationID).suffix(3)) == [30, 1, 31])
        let held = try #require(wire.network.events.held.first)
        #expect(held.metLaterTransaction && held.head.key == key && held.answer?.count == 12)
    }

    @Test(arguments: [true, false])
    func `each direction is closed on its own, and loses nothing`(requestsPass: Bool) throws {
        let wire = try Wire()
        let client = try wire.client()
        client.send(FakeRequest.frame(.metadata, id: 1))
        #expect(client.hasAnswers(1))
        wire.network.set(requestsPass ? .requestsOnly : .answersOnly, broker: 1)
        client.send(FakeRequest.frame(.metadata, id: 2))
        #expect(!client.hasAnswers(2, seconds: 1))
        #expect(wire.keys().count == (requestsPass ? 2 : 1))
        wire.network.set(.clear)
        #expect(client.hasAnswers(2) && wire.keys().count == 2)
    }

    @Test func `a throttled direction keeps its rate`() throws {
        let wire = try Wire()
        wire.network.set(.throttled(bytesPerSecond: 100_000))
        let client = try wire.client()
        let start = ContinuousClock.now
        client.send(FakeRequest.frame(.produce, id: 1, padding: 50_000))
        #expect(client.hasAnswers(1))
        #expect(ContinuousClock.now - start >= .milliseconds(350))
    }

    @Test func `every connection is cut, and a new one is open`() throws {
        let wire = try Wire()
        let client = try wire.client()
        client.send(FakeRequest.frame(.metadata, id: 1))
        #expect(client.hasAnswers(1))
        wire.network.cutAll()
        #expect(client.ends())
        let next = try wire.client()
        next.send(FakeRequest.frame(.metadata, id: 2))
        #expect(next.hasAnswers(1))
    }

    @Test func `bytes that are not Kafka requests are cut, and a client may disconnect at any time`() throws {
        let wire = try Wire()
        for bytes in [[0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 1, 0], [0x7F, 0, 0, 0], [0, 0, 0, 4, 0, 1, 0, 2]] {
            let client = try wire.client()
            client.send(bytes.map { UInt8($0) })
            #expect(client.ends())
        }
        let client = try wire.client()
        client.send(Array(FakeRequest.frame(.metadata, id: 1).dropLast()))
        client.close()
        #expect(wire.network.wait { $0.connections == 0 })
    }

    @Test func `a stopped network leaves no connection and no port behind, and may stop again`() throws {
        let wire = try Wire()
        let client = try wire.client()
        client.send(FakeRequest.frame(.metadata, id: 1))
        #expect(client.hasAnswers(1))
        #expect(throws: ClusterFault.self) { try NetworkProxy([.init(listen: wire.port, broker: wire.port)]) }
        wire.network.stop()
        #expect(client.ends() && wire.network.events.connections == 0)
        wire.network.stop()
        _ = try NetworkProxy([.init(listen: wire.port, broker: wire.port)])
    }
}
