internal import AppAttest
internal import Crypto
internal import Risk
internal import TestKit
internal import Testing

@testable import DeviceLab

@Suite("The receipt of an answer is judged against the one that was sent")
struct RefreshJudgementTests {
    private static let ca = LabCA(seed: 5)
    private static let noon = EvaluationTime(milliseconds: 1_791_806_400_250)
    private static let hash = SHA256.hash(Array("challenge".utf8)).bytes
    private static let later = noon.after(milliseconds: 7 * Milliseconds.day)

    private let device: FakeDevice
    private let verifier: ObjectVerifier
    private let sent: [UInt8]

    init() throws {
        device = Self.device(seed: 7)
        verifier = ObjectVerifier(anchors: try Self.ca.anchors())
        sent = device.receipt(.attest, clientDataHash: Self.hash, at: Self.noon)
    }

    private static func device(seed: UInt64, environment: Environment = .production) -> FakeDevice {
        let appID = "ABCDE12345.com.example.app"
        return FakeDevice(ca: ca, appID: appID, environment: environment, shape: .ios18_0, seed: seed)
    }

    /// A receipt that succeeds the one that was sent, but for the edit.
    private func answer(
        _ type: ReceiptType = .receipt,
        at time: EvaluationTime = later,
        edit: @escaping @Sendable (inout ReceiptDraft<ReceiptContext>) -> Void = { _ in }
    ) throws -> [UInt8] {
        let old = try #require(ReceiptContent(unverified: sent))
        let (leaf, token) = (old.leaf, try #require(old.token))
        let fault = ReceiptFault.draft("successor", .malformed) { draft in
            draft.set(3, leaf)
            draft.set(5, token)
            edit(&draft)
        }
        return device.receipt(type, clientDataHash: Self.hash, at: time, fault: fault)
    }

    private func judge(
        _ answer: [UInt8],
        appID: String? = nil,
        environment: Environment? = nil,
        at time: EvaluationTime = later
    ) throws -> Result<ReceiptVerdict, RefreshRefusal> {
        let (appID, environment) = (AppID(appID ?? device.appID), environment ?? device.environment)
        let judgement = try #require(RefreshJudgement(sent: sent, appID: appID, environment: environment))
        return judgement.judge(answer, at: time, by: verifier, engine: OpenSSLEngine())
    }

    private func refusal(_ result: Result<ReceiptVerdict, RefreshRefusal>) -> RefreshRefusal? {
        if case .failure(let refusal) = result { refusal } else { nil }
    }

    @Test func `the successor is verified, with its metric and dates`() throws {
        let verdict = try judge(try answer()).get()
        #expect(verdict.type == .receipt && verdict.createdAt == Self.later)
        #expect(verdict.riskMetric != nil && verdict.notBefore == Self.later.after(milliseconds: Milliseconds.day))
    }

    @Test func `a receipt of another type, app, environment, leaf or token is refused for that`() throws {
        let (successor, token) = (try answer(), try #require(ReceiptContent(unverified: sent)?.token))
        #expect(refusal(try judge(try answer(.attest))) == .receipt(.type))
        #expect(refusal(try judge(successor, appID: "ABCDE12345.com.example.apq")) == .receipt(.appID))
        #expect(refusal(try judge(successor, environment: .development)) == .receipt(.environment))
        let leaf = device.leaf(clientDataHash: Self.hash, at: Self.later)
        #expect(refusal(try judge(try answer { $0.set(3, leaf) })) == .receipt(.keyMismatch), "of the same key too")
        for other in [token.dropLast() + [token[0] ^ 1], token + [0x41], Array(token.dropLast()), []] {
            #expect(refusal(try judge(try answer { $0.set(5, other) })) == .otherToken)
        }
        #expect(refusal(try judge(try answer { $0.fields.removeAll { $0.type == 5 } })) == .otherToken)
    }

    @Test(arguments: [0, 1, 2] as [Int64])
    func `a receipt that was created with the one that was sent, or before, is refused`(age: Int64) throws {
        let time = Self.noon.after(milliseconds: -age)
        #expect(refusal(try judge(try answer(at: time), at: Self.noon)) == .notLater)
        let next = Self.noon.after(milliseconds: 10)
        #expect(refusal(try judge(try answer(at: next), at: next)) == nil)
    }

    /// What the worker takes, and what it refuses as `receipt:metric`.
    @Test(
        arguments: [
            ("0", true), ("1", true), ("65536", true), ("999999999", true), (nil, false), ("", false), ("-1", false),
            ("+1", false), ("1.0", false), (" 1", false), ("1234567890", false), ("1234567890123456", false),
        ] as [(String?, Bool)]
    )
    func `a genuine receipt without a metric of 1 to 9 digits is refused`(metric: String?, isTaken: Bool) throws {
        let answer = try answer { draft in
            guard let metric else { return draft.fields.removeAll { $0.type == 17 } }
            draft.set(17, Array(metric.utf8))
        }
        #expect(refusal(try judge(answer)) == (isTaken ? nil : .metric))
    }

    @Test func `a receipt that is not the successor is refused for that, whatever its metric`() throws {
        let old = try answer(at: Self.noon) { $0.fields.removeAll { $0.type == 17 } }
        #expect(refusal(try judge(old, at: Self.noon)) == .notLater)
        #expect(RefreshRefusal.metric.code == "receipt:metric")
    }

    @Test(
        arguments: [
            (300_000, nil), (300_001, .receipt(.tooOld)), (0, nil), (-60_000, nil), (-60_001, .receipt(.fromFuture)),
        ] as [(Int64, RefreshRefusal?)]
    )
    func `it was created at most five minutes ago`(age: Int64, expected: RefreshRefusal?) throws {
        #expect(refusal(try judge(try answer(), at: Self.later.after(milliseconds: age))) == expected)
    }

    @Test(arguments: ReceiptParts.faults.filter { $0.applies(to: .receipt, isAlone: true) })
    func `a receipt with any fault of its own is refused`(fault: ReceiptFault) throws {
        let faulty = device.receipt(.receipt, clientDataHash: Self.hash, at: Self.later, fault: fault)
        let refusal = try #require(refusal(try judge(faulty)))
        #expect(refusal.code.hasPrefix("receipt:"))
    }

    @Test func `bytes that are not a receipt are refused, and none is sent for them`() throws {
        for bytes in [[], [0x30], Array("<html>".utf8), [UInt8](repeating: 0x30, count: 9_000)] {
            #expect(refusal(try judge(bytes)) == .receipt(.malformed))
            let judgement = RefreshJudgement(sent: bytes, appID: AppID(device.appID), environment: .production)
            #expect(judgement == nil)
        }
    }

    @Test(.enabled(if: Vectors.arePresent, Vectors.absence))
    func `real receipts of one key succeed each other in their order alone`() throws {
        let anchors = try TrustAnchors(attestationPEM: [], receiptPEM: [Vectors.appleReceiptRoot])
        let verifier = ObjectVerifier(anchors: anchors)
        let chains = Dictionary(grouping: Vectors.real(.receipt)) {
            ReceiptContent(unverified: $0.objectBytes)?.leaf ?? []
        }
        var count = 0
        for chain in chains.values where chain.count > 1 {
            for old in chain {
                for new in chain {
                    guard let appID = old.appID, old.environment == new.environment, new.receiptType == "RECEIPT",
                        new.expected == "valid",
                        let created = new.createdTime, let before = old.createdTime,
                        let judgement = RefreshJudgement(
                            sent: old.objectBytes,
                            appID: AppID(appID),
                            environment: old.environment == "production" ? .production : .development
                        )
                    else { continue }
                    let time = created.after(milliseconds: Milliseconds.second)
                    let result = judgement.judge(new.objectBytes, at: time, by: verifier, engine: OpenSSLEngine())
                    #expect(refusal(result) == (created > before ? nil : .notLater), "\(old.name) then \(new.name)")
                    count += 1
                }
            }
        }
        #expect(count >= 4)
    }
}
