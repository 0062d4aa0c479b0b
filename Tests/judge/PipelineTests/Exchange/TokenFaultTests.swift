import AppAttest
import AppCheck
import Crypto
import DeviceLab
import JSON
import Pipeline
import SimulationKit
import Streams
import TestKit
import Testing

/// Why a token is invalid: in the result's evidence and in the metric, and never the token.
@Suite struct TokenFaultTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let fault: TokenFault
        var keys: [TokenKey]?
        var header = #"{"kid":"Kx3_Qa","typ":"JWT","alg":"RS256"}"#
        var change: @Sendable (String) -> String = { $0 }
        var project = "projects/contract-test-1"
        var isCut = false
        var ahead: Int64 = 0

        var testDescription: String { "\(fault) \(project) \(ahead)" }
    }

    private static func cases() throws -> [Case] {
        func edited(_ fault: TokenFault, _ old: String, _ new: String) -> Case {
            Case(fault: fault, change: { $0.replacing(old, with: new) })
        }
        return [
            Case(fault: .unknownKey, keys: [try ExchangeKit.rs256("N3w_Kd", key: ExchangeKit.otherRSA)]),
            Case(fault: .algorithm, header: #"{"kid":"Kx3_Qa","typ":"JWT","alg":"ES256"}"#),
            Case(fault: .algorithm, header: #"{"kid":"Kx3_Qa","alg":"RS256"}"#),
            Case(fault: .signature, keys: [try ExchangeKit.rs256(key: ExchangeKit.otherRSA)]),
            Case(fault: .issuer, project: "projects/\(ExchangeKit.otherProject)"),
            edited(.issuer, "googleapis.com/1", "googleapis.com/2"), edited(.audience, "projects/", "project/"),
            edited(.claims, "device_check_app_attest", "play_integrity"), Case(fault: .expired, ahead: 300_000),
            edited(.app, #""sub":"1:"#, #""sub":"2:"#), Case(fault: .malformed, isCut: true),
        ]
    }

    @Test(arguments: try cases())
    func `a refused token's result and metric say why, with what the token claims and no part of it`(_ one: Case) throws
    {
        var (rig, device, artifact) = try ExchangeRig.registered()
        let minted = try #require(rig.refresh(&device, artifact, limitedUse: true).tokenText)
        // Signed again, with the change.
        let payload = try #require(Base64.decode(Array(minted.split(separator: ".")[1].utf8)))
        let claims = one.change(String(decoding: payload, as: UTF8.self))
        let text = Self.encoded(Array(one.header.utf8)) + "." + Self.encoded(Array(claims.utf8))
        let signature = try ExchangeKit.rs256().key.sign(Array(text.utf8))
        let token = one.isCut ? String(text.dropLast(40)) : text + "." + Self.encoded(signature)
        if let keys = one.keys {
            #expect(try rig.replace(ExchangeKit.settings(keys: ExchangeKit.keys(tokens: keys))) == nil)
        }
        rig.time += one.ahead
        let (id, writes) = (one.isCut ? [1] as [UInt8] : nil, rig.streams.ledger.count)
        let answers = try rig.send(.verification(of: token, project: one.project, key: id))
        #expect(answers.reason == "token-invalid" && answers.code == 403)
        #expect(rig.streams.ledger[writes...].allSatisfy { $0.key.first != LedgerTypes.token || $0.value == nil })
        let evidence = try #require(answers.result?["evidence"])
        #expect(evidence["tokenFault"]?.string == one.fault.rawValue)
        #expect((evidence["claimed"] == nil) == one.isCut)
        #expect(one.isCut || evidence["claimed"]?["kid"]?.string == "Kx3_Qa")
        #expect(one.isCut || evidence["claimed"]?["aud"]?.elements.count == 2)
        #expect(one.isCut || evidence["claimed"]?["exp"]?.integer != nil)
        let names = evidence["claimed"]?.members.map { String(decoding: $0.name, as: UTF8.self) } ?? []
        #expect(Set(names).isSubset(of: ["kid", "iss", "aud", "exp"]))
        let result = String(decoding: answers.result?.writtenText ?? [], as: UTF8.self)
        for part in token.split(separator: ".") { #expect(!result.contains(part.prefix(20))) }
        let counts = rig.loop.tally.answers.counts.filter { key, _ in key.event == .tokenUse(.invalid(one.fault)) }
        #expect(counts.values.reduce(0, +) == 1)
    }

    private static func encoded(_ bytes: [UInt8]) -> String { String(decoding: Base64.encodeURL(bytes), as: UTF8.self) }

    @Test func `the metric's causes are those that operators look for, and other outcomes have none`() {
        let names = TokenFault.allCases.map { AnswerCounts.TokenUse.invalid($0).labels[1] }
        let wanted = ["malformed", "algorithm", "unknown_kid", "signature", "audience", "expired", "issuer"]
        #expect(Set(names).isSuperset(of: wanted) && names.allSatisfy { !$0.contains("-") })
        #expect(AnswerCounts.TokenUse.session.labels == ["session", ""])
        #expect(AnswerCounts.TokenUse.firstUse.labels == ["first_use", ""])
    }
}
