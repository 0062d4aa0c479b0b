internal import Foundation
internal import HostileHTTP

/// Bytes as a client sends them, over loopback, to the gateway and its HTTP server in this process.
///
/// What the handler sees must be what a strict reader sees; every connection ends; a well-behaved client on a connection
/// of its own is served all the while.
final class GatewayTarget {
    private let world: HostileWorld
    private let neighbour: HostileClient
    private var number = 0

    /// One input of so many ends its sending side at once.
    private static let hastyShare = 64

    init() throws {
        world = try HostileWorld(isStepped: true)
        guard let neighbour = HostileClient(port: world.port, from: [127, 0, 0, 3]) else {
            preconditionFailure("the server takes a connection")
        }
        self.neighbour = neighbour
        // libFuzzer's alarm must not interrupt the clients' calls; the server's thread takes it.
        var alarm = sigset_t()
        unsafe sigemptyset(&alarm)
        unsafe sigaddset(&alarm, SIGALRM)
        unsafe pthread_sigmask(SIG_BLOCK, &alarm, nil)
    }

    func run(_ input: [UInt8]) {
        let visit = visit(input)
        world.expect(visit)
        guard let client = HostileClient(port: world.port, from: visit.source) else {
            return insist(false, "the server takes a connection (errno \(errno))")
        }
        for (start, end) in zip(visit.cuts, visit.cuts.dropFirst()) {
            client.write(input[start..<end])
            insist(neighbour.isServed(), "a well-behaved neighbour is served")
        }
        if visit.ending == .halfClose { client.finishWriting() }
        let found = visit.outcome(world, client)
        insist(found.crime == nil && found.doubt == nil, "\(found.crime ?? found.doubt ?? ""): \(visit.text)")
        insist(neighbour.isServed(), "a well-behaved neighbour is served")
        let rest = world.leftOpen(beside: 1)
        insist(rest == nil, rest ?? "")
        world.forget(visit.source)
    }

    /// The input itself chooses who answers, how the client ends, and whether it comes in two parts.
    private func visit(_ input: [UInt8]) -> HostileVisit {
        number += 1
        let source: [UInt8] = [127, UInt8(16 + number >> 16 & 63), UInt8(number >> 8 & 255), UInt8(number & 255)]
        let cut = input.isEmpty || input.count % 4 != 0 ? input.count : Int(input[input.count / 2]) % input.count
        let answering = HostileWorld.Answering.allCases
        return HostileVisit(
            source,
            input,
            input.count % 8 == 7 ? answering[input.count / 8 % answering.count] : .gateway,
            input.count % Self.hastyShare == 1 ? .halfClose : .patient,
            cuts: [cut]
        )
    }
}
