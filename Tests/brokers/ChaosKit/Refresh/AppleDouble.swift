internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import HTTP
internal import JSON
internal import TestKit
internal import Threads

/// Apple's double in this process, which remembers its calls: a refresher that is killed forgets its own.
package final class AppleDouble: Sendable {
    /// A call that has ended.
    package struct Call: Sendable, Equatable {
        /// The key of what was sent, as records have it; empty where nothing was.
        package var key: String
        /// What was sent, before Base64.
        package var receipt: [UInt8]
        /// The value of `Authorization`.
        package var token = ""
        /// nil = no whole answer came.
        package var status: Int? = 200
        /// The receipt of an answer that a refresher has to take; nil = it has none.
        package var answer: [UInt8]?

        /// Whether a refresher never makes this call again by itself: what was answered counts.
        var isFinal: Bool { status.map { $0 != 401 && $0 != 429 && $0 < 500 } ?? false }
    }

    /// What is killed meanwhile has called and does not know the answer.
    private static let latencyMilliseconds = 300

    private let port: UInt16
    private let ca: LabCA
    private let key: DeviceCheckKey
    private let state = Locked(State())
    private let server = Locked<HTTPCallServer?>(nil)

    /// - Parameter port: a free one, on which nothing listens before ``serve(faults:seed:)``.
    init(_ ca: LabCA, _ key: DeviceCheckKey, port: UInt16) { (self.ca, self.key, self.port) = (ca, key, port) }

    /// Begins to answer, or forgets all keys and goes on.
    ///
    /// - Parameter faults: the share of answers with a fault; none drips, which would take a call's whole time.
    package func serve(faults: Double = 0, seed: UInt64 = 1) throws {
        var settings = LabApple.Settings(keys: [key])
        (settings.faultShare, settings.seed) = (faults, seed)
        settings.faults = AppleFault.allCases.filter { $0.name != "dripping" }
        let apple = LabApple(ca, settings)
        state.withLock { $0.apple = apple }
        guard server.withLock({ $0 == nil }) else { return }
        let started = try HTTPCallServer(address: "127.0.0.1", port: port) { [state] call, responder in
            later(milliseconds: Self.latencyMilliseconds) {
                if let reply = state.withLock({ $0.answer(call) }) { responder.answer(reply) }
            }
        }
        server.withLock { $0 = started }
    }

    /// Ends each connection without an answer, or does no more.
    func fail(_ isOut: Bool) { state.withLock { $0.isOut = isOut } }

    /// The calls in the order of their ends.
    package var calls: [Call] { state.withLock { $0.calls } }
    package var callCount: Int { state.withLock { $0.calls.count } }

    private struct State {
        var apple: LabApple?
        var isOut = false
        var calls: [Call] = []

        mutating func answer(_ call: HTTPCall) -> HTTPReply? {
            let headers = call.headers.map { (name: $0.name, value: $0.value) }
            let sent = AppleCall(method: call.method, target: call.target, headers: headers, body: call.body)
            guard var answer = apple?.answer(sent, at: EvaluationTime(milliseconds: timeOfDay())) else { return nil }
            if isOut {
                answer = AppleAnswer(status: 200, body: [0x20])
                answer.delivery = .cut(after: 0)
            }
            note(call, answer)
            var reply = HTTPReply(status: answer.status, headers: answer.headers, body: answer.body)
            if case .cut(let count) = answer.delivery { reply.pace = .cut(after: count) }
            return reply
        }

        private mutating func note(_ call: HTTPCall, _ answer: AppleAnswer) {
            let receipt = Base64.decode(call.body) ?? []
            let key = ReceiptContent(unverified: receipt)?.publicKey.map { KeyID(of: $0).recordKey } ?? []
            let token = String(decoding: call.values("authorization").last ?? [], as: UTF8.self)
            var noted = Call(key: String(decoding: key, as: UTF8.self), receipt: receipt, token: token, answer: nil)
            noted.status = answer.delivery == .whole ? answer.status : nil
            // A fault may put white space around it.
            let isRight = noted.status == 200 && answer.fault.map { $0.result == .receipt } ?? true
            if isRight { noted.answer = Base64.decode(answer.body.filter { $0 > 0x20 }) }
            calls.append(noted)
        }
    }
}
