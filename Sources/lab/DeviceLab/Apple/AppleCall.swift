/// A call to Apple's receipt exchange, as it was sent.
package struct AppleCall: Sendable {
    package var method: [UInt8]
    /// Path and query.
    package var target: [UInt8]
    /// The names are in lower case.
    package var headers: [(name: [UInt8], value: [UInt8])]
    package var body: [UInt8]

    package init(
        method: [UInt8],
        target: [UInt8],
        headers: [(name: [UInt8], value: [UInt8])],
        body: [UInt8]
    ) {
        (self.method, self.target, self.headers, self.body) = (method, target, headers, body)
    }

    func values(_ name: String) -> [[UInt8]] {
        headers.filter { $0.name.elementsEqual(name.utf8) }.map(\.value)
    }
}

/// What the exchange answers, and how its bytes arrive.
package struct AppleAnswer: Sendable, Equatable {
    package enum Delivery: Sendable, Equatable {
        case whole
        /// A few bytes at a time.
        case dripping
        /// The connection ends after so many bytes of the body.
        case cut(after: Int)
    }

    package var status: Int
    package var headers: [(name: String, value: String)]
    package var body: [UInt8]
    package var delivery = Delivery.whole
    /// The fault that made the answer another one than the call deserved.
    package var fault: AppleFault?

    package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    init(status: Int, text: String) {
        self.init(status: status, headers: [("Content-Type", "text/plain")], body: Array(text.utf8))
    }

    package static func == (left: AppleAnswer, right: AppleAnswer) -> Bool {
        left.status == right.status && left.body == right.body && left.delivery == right.delivery
            && left.fault == right.fault && left.headers.elementsEqual(right.headers, by: ==)
    }
}

/// Why a call gets no receipt, in the order in which it is judged.
package enum AppleRefusal: String, Error, Sendable, CaseIterable {
    case noSuchPath, method
    case tokenMissing, tokenMalformed, tokenUnknownKey, tokenSignature, tokenOtherIssuer, tokenExpired
    case badPayload, tokenOtherTeam, incorrectEnvironment
    case expired, noData, notModified

    /// The status and the text: `Bad Payload` and `Incorrect Environment` are Apple's, the others the lab's own.
    package var answer: AppleAnswer {
        switch self {
        case .noSuchPath: AppleAnswer(status: 404, text: "Not Found")
        case .method:
            AppleAnswer(status: 405, headers: [("Allow", "POST")], body: Array("Method Not Allowed".utf8))
        case .tokenMissing: AppleAnswer(status: 401, text: "Authorization has no token, or several")
        case .tokenMalformed: AppleAnswer(status: 401, text: "The token is not a JWT with ES256")
        case .tokenUnknownKey: AppleAnswer(status: 401, text: "The token's kid is not a listed key")
        case .tokenSignature: AppleAnswer(status: 401, text: "The token's signature is not its key's")
        case .tokenOtherIssuer: AppleAnswer(status: 401, text: "The token's iss is not its key's team")
        case .tokenExpired: AppleAnswer(status: 401, text: "The token's iat is not within an hour of now")
        case .tokenOtherTeam: AppleAnswer(status: 401, text: "The token's team is not the receipt's")
        case .badPayload: AppleAnswer(status: 400, text: "Bad Payload")
        case .incorrectEnvironment: AppleAnswer(status: 400, text: "Incorrect Environment")
        case .expired: AppleAnswer(status: 404, text: "The receipt has expired")
        case .noData: AppleAnswer(status: 404, text: "The device has not attested for 30 days")
        case .notModified: AppleAnswer(status: 304)
        }
    }
}
