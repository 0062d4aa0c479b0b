internal import BrokerKit
internal import Foundation
internal import JSON
internal import Risk
internal import TestKit
internal import Threads

/// A call of a refresher to Apple's double, as a relay between them saw it.
package struct RelayedCall: Sendable, Equatable {
    /// What was sent, before Base64.
    package var receipt: [UInt8]
    /// The value of `Authorization`.
    package var token: String
    /// nil = no whole answer came.
    package var status: Int?
    /// The answer's body.
    package var answer: [UInt8]
    /// When it was there, in milliseconds since 1970.
    package var time: Int64 = 0

    package init(receipt: [UInt8], token: String, status: Int? = nil, answer: [UInt8] = []) {
        (self.receipt, self.token, self.status, self.answer) = (receipt, token, status, answer)
    }

    /// Whether a refresher never makes this call again by itself: what was answered counts.
    package var isFinal: Bool {
        guard let status else { return false }
        return status != 401 && status != 429 && status < 500
    }

    /// The new receipt, where the answer is one in Base64.
    package var answeredReceipt: [UInt8]? {
        // A refresher reads no more.
        guard status == 200, answer.count <= ReceiptAnswer.mostBodyBytes else { return nil }
        let text = answer.filter { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        // Nor another alphabet.
        guard let receipt = Base64.decode(text), !receipt.isEmpty, Base64.encode(receipt) == text else { return nil }
        return receipt
    }
}

/// Stands between refreshers and Apple's double, and remembers their calls: what is killed forgets its own.
///
/// It passes each byte on, answers after a while. One thread serves all connections.
package final class AppleRelay: Sendable {
    private struct Shared: Sendable {
        var calls: [RelayedCall] = []
        var isStopping = false
        var hasEnded = false
    }

    package let port: UInt16
    private let shared = Locked(Shared())

    /// - Parameters:
    ///   - port: the double's own.
    ///   - latency: how long an answer is on its way: what is killed meanwhile has called and does not know the answer.
    package init(to port: UInt16, latency: Duration = .zero) throws {
        self.port = try BrokerPorts.freePort()
        let loop = try RelayLoop(listening: self.port, to: port, latency)
        let thread = Thread { [shared] in
            while !shared.withLock({ $0.isStopping }) {
                let (calls, isIdle) = loop.pass()
                if !calls.isEmpty { shared.withLock { $0.calls += calls } }
                if isIdle { usleep(1_000) }
            }
            shared.withLock { $0.hasEnded = true }
        }
        thread.name = "relay"
        thread.start()
    }

    deinit { stop() }

    package func stop() {
        shared.withLock { $0.isStopping = true }
        while !shared.withLock({ $0.hasEnded }) { usleep(1_000) }
    }

    /// The calls that have ended, in the order of their ends.
    package var calls: [RelayedCall] { shared.withLock { $0.calls } }
    package var callCount: Int { shared.withLock { $0.calls.count } }
}

/// The relay's connections. For one thread at a time.
private final class RelayLoop: @unchecked Sendable {
    // Made by one thread and then used by another alone.
    private let listener: LoopbackSocket
    private let applePort: UInt16
    private let latency: Duration
    private var connections: [RelayedConnection] = []

    init(listening port: UInt16, to applePort: UInt16, _ latency: Duration) throws {
        listener = try LoopbackSocket.listening(on: port)
        (self.applePort, self.latency) = (applePort, latency)
    }

    /// Passes on what there is. - Returns: calls that have ended, and whether nothing moved.
    func pass() -> (calls: [RelayedCall], isIdle: Bool) {
        var isIdle = true
        while let client = listener.accept() {
            isIdle = false
            guard let apple = LoopbackSocket.connecting(to: applePort) else { continue }
            connections.append(RelayedConnection(client, apple, latency))
        }
        var calls: [RelayedCall] = []
        for connection in connections {
            if connection.pass() { isIdle = false }
            calls += connection.takeCalls()
        }
        connections.removeAll(where: \.isOver)
        return (calls, isIdle)
    }
}

private final class RelayedConnection {
    private let client: LoopbackSocket
    private let apple: LoopbackSocket
    private var toApple = RelayedBytes()
    private var toClient: RelayedBytes
    private var requests = HTTPMessages()
    private var answers = HTTPMessages()
    /// Calls without an answer yet.
    private var open: [RelayedCall] = []
    private var ended: [RelayedCall] = []
    private(set) var isOver = false

    init(_ client: LoopbackSocket, _ apple: LoopbackSocket, _ latency: Duration) {
        (self.client, self.apple) = (client, apple)
        toClient = RelayedBytes(latency: latency)
    }

    func takeCalls() -> [RelayedCall] {
        defer { ended = [] }
        return ended
    }

    /// - Returns: whether anything moved.
    func pass() -> Bool {
        let sent = toApple.pass(from: client, to: apple)
        for request in requests.take(sent.bytes) {
            open.append(
                RelayedCall(
                    receipt: Base64.decode(request.body) ?? [],
                    token: request.headers["authorization"] ?? ""
                )
            )
        }
        let answered = toClient.pass(from: apple, to: client)
        for answer in answers.take(answered.bytes) where answer.status != 100 && !open.isEmpty {
            var call = open.removeFirst()
            (call.status, call.answer) = (answer.status, answer.body)
            call.time = timeOfDay()
            ended.append(call)
        }
        if sent.isOver || answered.isOver { close() }
        return isOver || !sent.bytes.isEmpty || !answered.bytes.isEmpty
    }

    private func close() {
        isOver = true
        client.close()
        apple.close()
        ended += open
        open = []
    }
}

/// One direction of a connection.
private struct RelayedBytes {
    private let latency: Duration
    private var waiting: [UInt8] = []
    /// What has not been on its way for long enough.
    private var early: [(due: ContinuousClock.Instant, bytes: [UInt8])] = []
    private var hasEnded = false
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(latency: Duration = .zero) { self.latency = latency }

    /// - Returns: what was read, and whether nothing can pass any more.
    mutating func pass(from source: LoopbackSocket, to target: LoopbackSocket) -> (bytes: [UInt8], isOver: Bool) {
        var read: [UInt8] = []
        if !hasEnded, waiting.count < 1 << 22 {
            switch source.read(into: &buffer) {
            case .bytes(let count): read = Array(buffer[..<count])
            case .wouldBlock: break
            case .ended: hasEnded = true
            }
        }
        if !read.isEmpty { early.append((.now + latency, read)) }
        while let first = early.first, first.due <= .now { waiting += early.removeFirst().bytes }
        switch target.write(waiting, from: 0, most: waiting.count) {
        case .bytes(let count): waiting.removeFirst(count)
        case .wouldBlock: break
        case .ended: return (read, true)
        }
        return (read, hasEnded && waiting.isEmpty && early.isEmpty)
    }
}
