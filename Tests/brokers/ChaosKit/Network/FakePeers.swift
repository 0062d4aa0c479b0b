internal import Broker
package import BrokerKit
internal import Foundation
internal import Pipeline
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

    static func big<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func text(_ text: String) -> [UInt8] { big(Int16(text.utf8.count)) + text.utf8 }
}

/// Listens as a broker does and answers each request with its correlation id and eight zeros.
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
        let listener = FakeListener(try LoopbackSocket.listening(on: port))
        Thread { [state] in
            while !state.withLock({ $0.isStopping }) {
                // Noted before it is answered: who has the answer sees the request.
                listener.turn { head in state.withLock { $0.received.append(head) } }
                usleep(500)
            }
            listener.close()
            state.withLock { $0.hasEnded = true }
        }.start()
    }

    deinit { stop() }

    /// The bytes that have arrived, in order.
    package var received: [RequestHead] { state.withLock { $0.received } }

    package func stop() {
        state.withLock { $0.isStopping = true }
        while !state.withLock({ $0.hasEnded }) { usleep(500) }
    }
}

private final class FakeListener: @unchecked Sendable {
    // Only the broker's thread touches it.
    private let listener: LoopbackSocket
    private var open: [(socket: LoopbackSocket, input: FrameBuffer)] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)

    init(_ listener: LoopbackSocket) { self.listener = listener }

    func turn(_ note: (RequestHead) -> Void) {
        while let socket = listener.accept() { open.append((socket, FrameBuffer())) }
        for index in open.indices {
            switch open[index].socket.read(into: &buffer) {
            case .wouldBlock: continue
            case .ended: open[index].socket.close()
            case .bytes(let count): open[index].input.append(buffer[..<count])
            }
            while case .frame(let frame) = open[index].input.next(), let head = RequestHead(frame) {
                note(head)
                let answer =
                    FakeRequest.big(Int32(12)) + FakeRequest.big(head.correlationID) + FakeRequest.big(0 as Int64)
                _ = open[index].socket.write(answer, from: 0, most: .max)
            }
        }
        open.removeAll { !$0.socket.isOpen }
    }

    func close() {
        listener.close()
        open = []
    }
}

/// A client of a few bytes. For one thread at a time.
package final class FakeClient {
    private let socket: LoopbackSocket
    private var input = FrameBuffer()
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    /// The connection was cut.
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
            if case .bytes(let count) = socket.write(frame, from: sent, most: .max) { sent += count }
            return sent == frame.count
        }
    }

    /// Waits for answers until there are so many in all, or the connection is cut.
    package func hasAnswers(_ count: Int, seconds: Int = 10) -> Bool {
        _ = Deadline.wait(seconds) {
            poll()
            return isCut || frames.count >= count
        }
        return frames.count >= count
    }

    /// Correlation ids of answers, in order.
    package var answers: [Int32] {
        frames.compactMap { frame in
            var reader = FrameReader(frame, from: 4)
            return reader.int32()
        }
    }

    /// Waits until the connection is cut.
    package func ends(seconds: Int = 10) -> Bool {
        Deadline.wait(seconds) {
            poll()
            return isCut
        }
    }

    package func close() { socket.close() }

    private func poll() {
        switch socket.read(into: &buffer) {
        case .wouldBlock: return
        case .ended: isCut = true
        case .bytes(let count): input.append(buffer[..<count])
        }
        while case .frame(let frame) = input.next() { frames.append(frame) }
    }
}
