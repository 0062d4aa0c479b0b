internal import AppAttest
internal import AppCheck
internal import Crypto
internal import DeviceLab
internal import JSON
internal import Streams

/// Records for the cost fuzzer: accepted ones of any length, and hostile ones that try to cost more.
struct CostInputs {
    let rig: CostRig
    private let attestation: [UInt8]
    private let exchangeAttestation: [UInt8]
    private let assertion: [UInt8]
    private let exchangeAssertion: [UInt8]
    private let receipt: [UInt8]
    private static let hash = [UInt8](repeating: 9, count: 32)
    private static let path = "v1/projects/contract-test-1/apps/1:123456789012:ios:0123456789abcdef"
    private static let time = EvaluationTime(milliseconds: CostRig.start - 1000)

    private static let receiptFaults = ReceiptFault.allCases.filter { $0.applies(to: .receipt, isAlone: true) }

    init(_ rig: CostRig) {
        self.rig = rig
        let challengeHash = SHA256.hash(rig.challenge).bytes
        attestation = rig.device.attest(clientDataHash: Self.hash, at: Self.time)
        exchangeAttestation = rig.device.attest(clientDataHash: challengeHash, at: Self.time)
        assertion = rig.device.assertion(clientDataHash: Self.hash, counter: 5)
        receipt = rig.device.receipt(.receipt, clientDataHash: Self.hash, at: Self.time)
        exchangeAssertion = rig.device.assertion(
            clientDataHash: SHA256.hash(rig.artifact + rig.challenge).bytes,
            counter: 5
        )
    }

    /// The record that is accepted, padded to `length` with a member that is never read.
    func accepted(_ verb: Verb, length: Int) -> CostInput {
        let bare = record(verb, members(verb))
        let padding = length - bare.value.count - 8
        guard padding > 0 else { return bare }
        var value = bare.value
        value.removeLast()
        value += Array(",\"p\":\"".utf8) + [UInt8](repeating: 0x61, count: padding) + Array("\"}".utf8)
        return CostInput(value: value, key: bare.key)
    }

    /// Something hostile of that verb.
    func hostile(_ verb: Verb, _ random: inout SeededRandom) -> CostInput {
        let isObject = verb != .generateAppAttestChallenge && verb != .verifyAppCheckToken
        switch random.below(isObject ? 12 : 8) {
        case 0...4: return hostileJSON(verb, &random)
        case 5: return damagedValue(verb, &random)
        case 6: return hostileHeaders(verb, &random)
        case 7: return hostileMember(verb, &random)
        default: return hostileObject(verb, &random)
        }
    }

    // MARK: Parts

    /// A verb's members, each with its JSON.
    private func members(_ verb: Verb, object: [UInt8]? = nil, of device: FakeDevice? = nil) -> [(String, [UInt8])] {
        func text(_ bytes: [UInt8]) -> [UInt8] { [0x22] + Base64.encode(bytes) + [0x22] }
        let keyID = ("keyId", text((device ?? rig.device).keyID.bytes))
        let challenge = ("challenge", text(rig.challenge))
        switch verb {
        case .generateAppAttestChallenge: return []
        case .exchangeAppAttestAttestation:
            return [("attestationStatement", text(object ?? exchangeAttestation)), challenge, keyID]
        case .exchangeAppAttestAssertion:
            return [("artifact", text(rig.artifact)), ("assertion", text(object ?? exchangeAssertion)), challenge]
        case .exchangeDebugToken: return [("debugToken", [0x22] + CostRig.debugSecret + [0x22])]
        case .verifyAppCheckToken: return [("appCheckToken", [0x22] + rig.token + [0x22])]
        case .verifyAttestation:
            return [keyID, ("attestationStatement", text(object ?? attestation)), ("clientDataHash", text(Self.hash))]
        case .verifyAssertion:
            return [keyID, ("assertion", text(object ?? assertion)), ("clientDataHash", text(Self.hash))]
        case .verifyReceipt: return [keyID, ("receipt", text(object ?? receipt))]
        }
    }

    private func path(_ verb: Verb) -> [UInt8] {
        let resource = verb == .verifyAppCheckToken ? "v1beta/projects/contract-test-1" : Self.path
        return Array("\(resource):\(verb.rawValue)".utf8)
    }

    private func record(_ verb: Verb, _ members: [(String, [UInt8])], family: String = "accepted") -> CostInput {
        let body = members.map { Array("\"\($0.0)\":".utf8) + $0.1 }.joined(separator: [0x2C])
        let value =
            Array("{\"path\":\"".utf8) + path(verb) + Array("\",\"body\":{".utf8) + Array(body) + Array("}}".utf8)
        return CostInput(value: value, key: key(verb), family: family)
    }

    private func key(_ verb: Verb) -> [UInt8]? {
        switch verb {
        case .generateAppAttestChallenge, .exchangeDebugToken: nil
        case .verifyAppCheckToken: rig.tokenID
        default: rig.device.keyID.recordKey
        }
    }
}

// MARK: - Hostile

extension CostInputs {
    private static func length(_ random: inout SeededRandom) -> Int {
        [200, 1_000, 4_000, 8_000, 16_000, 30_000, 60_000][random.below(7)]
    }

    /// Members, names, nesting and strings, beside or instead of what the verb needs.
    private func hostileJSON(_ verb: Verb, _ random: inout SeededRandom) -> CostInput {
        let length = Self.length(&random)
        let kind = random.below(10)
        let name = String(decoding: Hostile.json([8, 24, 120, 250, 4000][random.below(5)], &random), as: UTF8.self)
        let count = [1, 16, 17, 60, 63, 64, 100, 5000][random.below(8)]
        let text = String(decoding: Hostile.json(length, &random), as: UTF8.self)
        let junk: String
        switch kind {
        case 0, 1:
            let most = min(count, max(1, length / (name.utf8.count + 8)))
            junk = (0..<most).map { "\"\(name)\($0)\":0" }.joined(separator: ",")
        case 2: junk = "\"x\":\"\(text)\""
        case 3: junk = "\"x\":" + String(repeating: "[", count: length / 2) + String(repeating: "]", count: length / 2)
        case 4: junk = "\"x\":[" + Array(repeating: "0", count: length / 2).joined(separator: ",") + "]"
        case 5: junk = "\"x\":" + String(repeating: " ", count: length) + "0"
        case 6: junk = "\"x\":" + String(repeating: "1", count: length)
        case 7: junk = "\"\(text)\":0"
        case 8: junk = (0..<60).map { "\"\(String(repeating: "\\u0061", count: 20))\($0)\":0" }.joined(separator: ",")
        default: junk = "\"x\":{" + (0..<min(count, 200)).map { "\"m\($0)\":\"\(name)\"" }.joined(separator: ",") + "}"
        }
        var input = record(verb, members(verb))
        let place = random.below(3)
        if place == 0 {
            input.value = Array("{\(junk),".utf8) + input.value.dropFirst()
        } else if place == 1 {
            input.value = input.value.dropLast(2) + Array("\(members(verb).isEmpty ? "" : ",")\(junk),\"z\":1}}".utf8)
        } else {
            input.value = input.value.dropLast() + Array(",\(junk)}".utf8)
        }
        // Two members of one name: the request is certainly refused, whatever the junk.
        if random.below(2) == 0 { input.value = input.value.dropLast() + Array(",\"q\":0,\"q\":0}".utf8) }
        input.family = "JSON \(kind) at \(place), \(count) of \(name.prefix(8)), \(length) of \(text.prefix(6))"
        return input
    }

    /// A member of the verb, or the path, with a hostile value.
    private func hostileMember(_ verb: Verb, _ random: inout SeededRandom) -> CostInput {
        let text = Hostile.json(Self.length(&random), &random)
        var list = members(verb)
        let place = random.below(list.count + 1)
        guard place < list.count else {
            var input = record(verb, list, family: "path of \(String(decoding: text.prefix(8), as: UTF8.self))")
            let old = path(verb)
            guard let start = input.value.firstRange(of: old) else { return input }
            let cut = random.below(old.count)
            input.value.insert(contentsOf: text, at: start.lowerBound + cut)
            return input
        }
        if verb == .verifyAppCheckToken { return hostileToken(&random) }
        list[place].1 = [0x22] + text + [0x22]
        return record(verb, list, family: "\(list[place].0) of \(String(decoding: text.prefix(8), as: UTF8.self))")
    }

    private func hostileToken(_ random: inout SeededRandom) -> CostInput {
        var parts = rig.token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Array($0) }
        let place = random.below(3)
        let length = [100, 1_000, 4_000, 7_000, 50_000][random.below(5)]
        let text = Hostile.text(length, &random)
        switch random.below(5) {
        case 0: parts[place] = [UInt8](repeating: UInt8(ascii: "."), count: length)
        case 1: parts[place] = Base64.encodeURL(Array("{\"kid\":\"".utf8) + text + Array("\",\"jti\":\"a\"}".utf8))
        case 2: parts[place] = Mutation.damage(parts[place], &random)
        case 3: parts[place] += [UInt8](repeating: UInt8(ascii: "A"), count: length)
        default:
            let members = (0..<(length / 10)).map { "\"m\($0)\":0" }.joined(separator: ",")
            parts[place] = Base64.encodeURL(Array("{\(members)}".utf8))
        }
        let token = Array(parts.joined(separator: [UInt8(ascii: ".")]))
        return record(.verifyAppCheckToken, [("appCheckToken", [0x22] + token + [0x22])], family: "token \(place)")
    }

    private func damagedValue(_ verb: Verb, _ random: inout SeededRandom) -> CostInput {
        var input = accepted(verb, length: random.below(2) == 0 ? 0 : Self.length(&random))
        input.value = Mutation.damage(input.value, &random)
        input.family = "damaged value"
        return input
    }

    private func hostileHeaders(_ verb: Verb, _ random: inout SeededRandom) -> CostInput {
        var input = record(verb, members(verb), family: "headers")
        let text = Hostile.text(Self.length(&random), &random)
        let name = ["request-id", "installation-id", "traceparent", "x", ""][random.below(5)]
        let count = [1, 3, 300, 10_000][random.below(4)]
        let share = Array(text.prefix(text.count / count))
        input.headers = (0..<count).map { _ in RecordHeader(name: Array(name.utf8), value: share) }
        return input
    }

    /// The device's object, damaged somewhere and signed again.
    private func hostileObject(_ verb: Verb, _ random: inout SeededRandom) -> CostInput {
        if random.below(6) == 0, let input = risky(verb) { return input }
        var (alteration, family) = Alteration.random(&random)
        let isExchange = verb == .exchangeAppAttestAttestation || verb == .exchangeAppAttestAssertion
        var object: [UInt8]
        switch verb {
        case .verifyAttestation, .exchangeAppAttestAttestation:
            let hash = isExchange ? SHA256.hash(rig.challenge).bytes : Self.hash
            object = rig.device.attest(clientDataHash: hash, at: Self.time, altered: alteration)
        case .verifyReceipt:
            let fault = Self.receiptFaults[random.below(Self.receiptFaults.count)]
            object = rig.device.receipt(.receipt, clientDataHash: Self.hash, at: Self.time, fault: fault)
            family = fault.name
        default:
            let hash = isExchange ? SHA256.hash(rig.artifact + rig.challenge).bytes : Self.hash
            object = rig.device.assertion(clientDataHash: hash, counter: 5, altered: alteration)
        }
        if random.below(4) == 0, let tree = CBORTree(object) {
            object = tree.damaged(&random, most: 3_000).bytes
        }
        return record(verb, members(verb, object: object), family: family)
    }

    /// A right object of a device that attests for others: every check passes but the last one. nil for other verbs.
    private func risky(_ verb: Verb) -> CostInput? {
        let object: [UInt8]
        switch verb {
        case .verifyAttestation: object = rig.broker.attest(clientDataHash: Self.hash, at: Self.time)
        case .verifyAssertion: object = rig.broker.assertion(clientDataHash: Self.hash, counter: 5)
        default: return nil
        }
        var input = record(verb, members(verb, object: object, of: rig.broker), family: "risk")
        input.key = rig.broker.keyID.recordKey
        return input
    }
}
