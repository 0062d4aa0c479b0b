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
    /// One input of so many ends its sending side at once.
    private static let hastyShare = 64

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
        // libFuzzer's alarm must not interrupt the clients' calls; the server's thread takes it.
        var alarm = sigset_t()
        unsafe sigemptyset(&alarm)
        unsafe sigaddset(&alarm, SIGALRM)
        unsafe pthread_sigmask(SIG_BLOCK, &alarm, nil)
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
        // Few: the server sees such an end only at the next sweep.
        let isHasty = input.count % Self.hastyShare == 1
        var answers = isHasty ? [] : read(client, strict, input)
        client.finish()
        answers += client.readAll()
        settle()
        let seen = calls.withLock { calls in
            defer { calls = [] }
            return calls
        }
        check(seen, strict, input)
        // The library may end the connection of a client that closes its half while its call is open.
        let least = isHasty || Self.isBlurred(input) ? 0 : strict.requests.prefix(while: \.isSurelyServed).count
        let count = WireAnswers(answers, methods: strict.requests.map(\.method)).statuses.count
        insist(
            seen.count >= least && count >= least,
            "each strict request has its answer: \(seen.count) seen, \(count) of \(least)"
        )
        insist(server.counts.openConnections <= 3, "ended connections are let go of")
        insist(gateway.counts.waiting == 0, "no call waits for ever")
    }

    /// The answers to strict requests; all others have been read by then.
    private func read(_ client: Loopback, _ strict: StrictReader, _ input: [UInt8]) -> [UInt8] {
        var answers: [UInt8] = []
        let methods = strict.requests.map(\.method)
        while !Self.isBlurred(input), WireAnswers(answers, methods: methods).statuses.count < methods.count {
            let some = client.read()
            if some.isEmpty { break }
            answers += some
        }
        settle()
        return answers
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
        insist(false, "every call is answered")
    }

    private func askNeighbour() {
        neighbour.write(Array("GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n".utf8)[...])
        var answer = neighbour.read()
        // The body follows the headers, mostly at once.
        while answer.last != UInt8(ascii: "}") {
            let more = neighbour.read()
            insist(!more.isEmpty, "the neighbour's connection stays")
            answer += more
        }
        insist(answer.starts(with: "HTTP/1.1 200 ".utf8), "a well-behaved neighbour is served")
    }

    private func check(_ seen: [HTTPCall], _ strict: StrictReader, _ input: [UInt8]) {
        guard !Self.isBlurred(input) else { return }
        insist(
            seen.count <= strict.requests.count,
            "the handler sees no request that is not strict: \(Self.text(seen))"
        )
        for (call, request) in zip(seen, strict.requests) {
            let read = StrictRequest(
                method: call.method,
                target: call.target,
                headers: call.headers.map { ($0.name, $0.value) },
                body: call.body
            )
            insist(read == request, "the handler sees what was sent")
        }
    }

    private static func text(_ calls: [HTTPCall]) -> String {
        func quoted(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self).debugDescription }
        return calls.map { call in
            let headers = call.headers.map { "\(quoted($0.name)): \(quoted($0.value))" }
            return "\(quoted(call.method)) \(quoted(call.target)) \(headers) \(quoted(call.body))"
        }.joined(separator: "; ")
    }

    /// Whether the library may hide a spelling: it overwrites line ends and colons with zeros, so that neither zeros nor a
    /// line of a colon and a bare line end can be told from a line's end. No proxy lets them through.
    private static func isBlurred(_ input: [UInt8]) -> Bool {
        let colonLines = [0x0A, 0x0D].map { [0x0A, UInt8(ascii: ":"), $0] }
        return input.contains(0)
            || input.indices.contains { place in colonLines.contains { input[place...].starts(with: $0) } }
    }
}
