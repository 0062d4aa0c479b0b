internal import Foundation
internal import Gateway
internal import HTTP
internal import Pipeline

/// Bytes as a client sends them, over loopback, to the gateway and its HTTP server in this process.
///
/// What the handler sees must be what a strict reader sees; every connection ends; a well-behaved client on a connection
/// of its own is served all the while.
final class GatewayTarget {
    private let server: HTTPExchangeServer
    private let gateway: Gateway
    private let calls: Locked<[HTTPCall]>
    private var neighbour: Loopback

    /// The last bytes of the two clients' addresses.
    private static let (fuzzed, healthy): (UInt8, UInt8) = (2, 3)
    private static let mostTurns = 2_000

    init() throws {
        let (desk, calls, counter) = (AnswerDesk(), Locked<[HTTPCall]>([]), Locked<UInt64>(0))
        let world = Gateway.World(
            wallClock: { FuzzRules.now },
            uptime: { desk.uptime },
            randomBytes: { count in
                let number = counter.withLock { number in
                    number += 1
                    return number
                }
                return (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0 % 8))) }
            }
        )
        let gateway = Gateway(try FuzzRules.make(), topics: FuzzRules.topics, world: world, outlet: desk)
        desk.serve(gateway)
        gateway.open()
        var limits = HTTPExchangeLimits()
        (limits.connections, limits.requestSeconds) = (64, 1)
        server = try HTTPExchangeServer(address: "127.0.0.1", port: 0, limits: limits) { call, responder in
            if call.peer.bytes.last == Self.fuzzed { calls.withLock { $0.append(call) } }
            gateway.handle(call, responder)
        }
        (self.gateway, self.calls) = (gateway, calls)
        neighbour = Loopback(port: server.port, source: Self.healthy)
    }

    func run(_ input: [UInt8]) {
        let strict = StrictReader(input)
        let client = Loopback(port: server.port, source: Self.fuzzed)
        askNeighbour()
        // Some inputs come in two parts, at a place that the input itself chooses.
        let cut = input.isEmpty || input.count % 4 != 0 ? input.count : Int(input[input.count / 2]) % input.count
        client.write(input[..<cut])
        if cut < input.count { askNeighbour() }
        client.write(input[cut...])
        settle()
        client.finish()
        let answers = client.readAll()
        settle()
        let seen = calls.withLock { calls in
            defer { calls = [] }
            return calls
        }
        check(seen, strict, input, answers)
        precondition(server.counts.openConnections <= 3, "ended connections are let go of")
        precondition(gateway.counts.waiting == 0, "no call waits for ever")
    }

    /// The server's one thread has acted upon all that had come before: its answer to the neighbour says so.
    private func settle() {
        for _ in 0..<Self.mostTurns {
            let before = server.counts.requests
            askNeighbour()
            askNeighbour()
            let counts = server.counts
            if counts.openCalls == 0, counts.requests == before + 2 { return }
        }
        preconditionFailure("every call is answered")
    }

    private func askNeighbour() {
        neighbour.write(Array("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".utf8)[...])
        var answer = neighbour.read()
        // The body follows the headers, mostly at once.
        while answer.last != UInt8(ascii: "}") {
            let more = neighbour.read()
            precondition(!more.isEmpty, "the neighbour's connection stays")
            answer += more
        }
        precondition(answer.starts(with: "HTTP/1.1 200 ".utf8), "a well-behaved neighbour is served")
    }

    private func check(_ seen: [HTTPCall], _ strict: StrictReader, _ input: [UInt8], _ answers: [UInt8]) {
        // A zero byte before a line feed looks like a line's end to the library: no proxy lets it through.
        guard !zip(input, input.dropFirst()).contains(where: { $0 == 0 && $1 == 0x0A }) else { return }
        precondition(seen.count <= strict.requests.count, "the handler sees no request that is not strict")
        for (call, request) in zip(seen, strict.requests) {
            let read = StrictRequest(
                method: call.method,
                target: call.target,
                headers: call.headers.map { ($0.name, $0.value) },
                body: call.body
            )
            precondition(read == request, "the handler sees what was sent")
        }
        precondition(seen.count == strict.requests.count, "a strict request is served")
        guard strict.isWhole else { return }
        let finals = WireAnswers(answers, methods: seen.map(\.method))
        precondition(finals?.statuses.count == seen.count, "each call has one answer")
    }
}
