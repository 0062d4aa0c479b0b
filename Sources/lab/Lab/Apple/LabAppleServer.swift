package import AppAttest
package import DeviceLab
package import HTTP
internal import Threads

/// Apple's double behind HTTP on loopback.
package final class LabAppleServer: Sendable {
    static let address = "127.0.0.1"
    /// The seconds until a dripping answer is whole: refreshers do not wait so long.
    private static let drips = 40
    /// The limit of a client's time for one call and its answer: more than ``drips``.
    private static let requestSeconds = 60

    private let apple: Locked<LabApple>
    private let server: HTTPCallServer

    /// - Parameters:
    ///   - port: 0 = any free one.
    ///   - drips: the parts in which a dripping answer arrives, one in each second.
    ///   - now: the double's clock.
    package init(
        _ apple: LabApple,
        port: UInt16,
        drips: Int = LabAppleServer.drips,
        now: @escaping @Sendable () -> EvaluationTime
    ) throws(HTTPFault) {
        let apple = Locked(apple)
        self.apple = apple
        var limits = HTTPCallLimits()
        limits.requestSeconds = Self.requestSeconds
        server = try HTTPCallServer(address: Self.address, port: port, limits: limits) { call, responder in
            let answer = apple.withLock { $0.answer(AppleCall(call), at: now()) }
            responder.answer(HTTPReply(answer, drips: drips))
        }
    }

    package var account: LabApple.Account { apple.withLock { $0.account } }

    /// The address that a refresher's settings name.
    package var url: String { "http://\(Self.address):\(server.port)\(LabApple.path)" }

    package func stop() { server.stop() }
}

extension AppleCall {
    fileprivate init(_ call: HTTPCall) {
        self.init(
            method: call.method,
            target: call.target,
            headers: call.headers.map { (name: $0.name, value: $0.value) },
            body: call.body
        )
    }
}

extension HTTPReply {
    fileprivate init(_ answer: AppleAnswer, drips: Int) {
        self.init(status: answer.status, headers: answer.headers, body: answer.body)
        switch answer.delivery {
        case .whole: pace = .free
        case .dripping: pace = .dripping(bytes: answer.body.count / drips + 1)
        case .cut(let count): pace = .cut(after: count)
        }
    }
}
