package import BrokerKit
internal import Foundation
internal import Threads

/// A request that only the network reads.
package enum FakeRequest {
    /// With its length; the transactional id is the body's first field, as Kafka has it.
    package static func frame(
        _ key: APIKey,
        version: Int16 = 0,
        id: Int32,
        transactionalID: String? = nil,
        padding: Int = 0
    ) -> [UInt8] {
        var body = big(key.rawValue) + big(version) + big(id) + text("client")
        let isFlexible = key.firstFlexibleVersion.map { version >= $0 } ?? false
        if isFlexible { body.append(0) }
        if let transactionalID {
            body += isFlexible ? [UInt8(transactionalID.utf8.count + 1)] + transactionalID.utf8 : text(transactionalID)
        }
        body += [UInt8](repeating: 0xAA, count: padding)
        return big(Int32(body.count)) + body
    }

    /// The request's correlation id and eight zeros.
    fileprivate static func answer(to head: RequestHead) -> [UInt8] {
        big(Int32(12)) + big(head.correlationID) + big(0 as Int64)
    }

    static func big<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func text(_ text: String) -> [UInt8] { big(Int16(text.utf8.count)) + text.utf8 }
}

/// Listens as a broker does and answers each request.
package final class FakeBroker: Sendable {
    private struct State: Sendable {
        var received: [RequestHead] = []
        var isStopping = false
        var hasEnded = false
    }

    private let state = Locked(State())
    package let port: UInt16

    package init() throws {
        port = try BrokerPorts.freePort()
        let listener = try LoopbackSocket.listening(on: port)
        Thread { [state] in
            var open: [(socket: LoopbackSocket, input: FrameBuffer)] = []
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while !state.withLock({ $0.isStopping }) {
                while let socket = listener.accept() { open.append((socket, FrameBuffer())) }
                for index in open.indices {
                    let socket = open[index].socket
                    if !open[index].input.fill(from: socket, by: &buffer) { socket.close() }
                    while case .frame(let frame) = open[index].input.next(), let head = RequestHead(frame) {
                        // Noted before it is answered: who has the answer sees the request.
                        state.withLock { $0.received.append(head) }
                        _ = socket.write(FakeRequest.answer(to: head), from: 0, most: .max)
                    }
                }
                open.removeAll { !$0.socket.isOpen }
                usleep(500)
            }
            listener.close()
            open = []
            state.withLock { $0.hasEnded = true }
        }
        .start()
    }

    deinit { stop() }

    /// The bytes that have arrived, in order.
    package var received: [RequestHead] { state.withLock { $0.received } }

    package func stop() {
        state.withLock { $0.isStopping = true }
        while !state.withLock({ $0.hasEnded }) { usleep(500) }
    }
}

/// A client of a few bytes. For one thread at a time.
package final class FakeClient {
    private let socket: LoopbackSocket
    private var input = FrameBuffer()
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    package private(set) var isCut = false
    /// Answers with their length, in order.
    private(set) var frames: [[UInt8]] = []

    package init(port: UInt16) throws {
        guard let socket = LoopbackSocket.connecting(to: port) else { throw ClusterFault(description: "no socket") }
        self.socket = socket
    }

    package func send(_ frame: [UInt8], seconds: Int = 10) {
        var sent = 0
        _ = Deadline.wait(seconds) {
            sent += socket.write(frame, from: sent, most: .max) ?? 0
            return sent == frame.count
        }
    }

    /// Waits for answers until there are so many in all, or the connection is cut.
    package func hasAnswers(_ count: Int, seconds: Int = 10) -> Bool {
        _ = Deadline.wait(seconds) { poll() || frames.count >= count }
        return frames.count >= count
    }

    /// Correlation ids of answers, in order.
    package var answers: [Int32] {
        frames.compactMap { frame in
            var reader = FrameReader(frame, from: 4)
            return reader.int32()
        }
    }

    package func ends(seconds: Int = 10) -> Bool { Deadline.wait(seconds, until: poll) }

    package func close() { socket.close() }

    /// - Returns: whether the connection is cut.
    private func poll() -> Bool {
        if !input.fill(from: socket, by: &buffer) { isCut = true }
        while case .frame(let frame) = input.next() { frames.append(frame) }
        return isCut
    }
}
