internal import AppCheck
internal import CommandFrame
internal import Crypto
internal import JSON
internal import Settings
internal import Traffic

/// The account of the exchange: the tokens of the stock clients, and whether they verify.
struct DemoExchange {
    let fleet: StockFleet
    /// The output of `jwks`.
    let keySet: [UInt8]

    /// - Returns: the exit code: 0 when every client has its tokens, and the last of them verifies.
    func print(on console: Console) -> Int32 {
        let tally = fleet.tally
        let count = fleet.members.count
        console.print("")
        console.print("The App Check exchange: \(count) stock clients through the topics, \(tally.calls) calls:")
        var table = TextTable([.left, .right])
        table.add("challenge, attestation, session token", tally.sessions.grouped)
        table.add("challenge, assertion, new session token", tally.refreshed.grouped)
        table.add("challenge, assertion, limited-use token", tally.limitedUse.grouped)
        table.add("verifyAppCheckToken, {} and then {\"alreadyConsumed\": true}", tally.consumed.grouped)
        table.add("tokens minted", tally.minted.grouped)
        console.print(table.text)
        for fault in tally.faults.prefix(5) { console.print("UNEXPECTED: \(fault)") }
        for (reason, times) in tally.refused.sorted(by: { $0.key < $1.key }) {
            console.print("UNEXPECTED: refused \(times) times: \(reason)")
        }
        let verified = verify(console)
        let isWhole = [tally.sessions, tally.refreshed, tally.limitedUse, tally.consumed].allSatisfy { $0 == count }
        if !isWhole { console.print("UNEXPECTED: not every client finished") }
        return verified && isWhole && tally.faults.isEmpty && tally.refused.isEmpty ? ExitCode.done : ExitCode.failed
    }

    /// Prints the last token's claims, never the token, and checks it as its receiver does: with the key set alone.
    private func verify(_ console: Console) -> Bool {
        guard let token = fleet.tally.tokens.last, let read = ReadToken(Array(token.utf8)) else { return false }
        console.print("")
        console.print("The contents of a token (the token itself is a secret):")
        console.print(
            "  \(String(decoding: read.header, as: UTF8.self)) \(String(decoding: read.payload, as: UTF8.self))"
        )
        let isGood = read.isSigned(by: keySet)
        console.print(
            isGood
                ? "Its signature verifies with the key set that jwks prints."
                : "UNEXPECTED: its signature does not verify with the key set that jwks prints."
        )
        return isGood
    }
}

/// A token as a receiver with nothing but a published key set parses it.
struct ReadToken {
    let header: [UInt8]
    let payload: [UInt8]
    private let signingInput: [UInt8]
    private let signature: [UInt8]

    init?(_ token: [UInt8]) {
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Base64.decode(Array(parts[0])),
            let payload = Base64.decode(Array(parts[1])), let signature = Base64.decode(Array(parts[2]))
        else { return nil }
        (self.header, self.payload, self.signature) = (header, payload, signature)
        signingInput = Array(token[..<parts[1].endIndex])
    }

    /// Whether the key that the header names is in the set and made the signature.
    func isSigned(by keySet: [UInt8]) -> Bool {
        guard let kid = try? JSONDocument(parsing: header).root["kid"]?.string,
            let keys = try? JSONDocument(parsing: keySet).root["keys"]?.elements,
            let key = keys.first(where: { $0["kid"]?.string == kid }).flatMap(Self.key)
        else { return false }
        return key.isValid(signature, of: signingInput)
    }

    private static func key(_ node: JSONNode) -> VerificationKey? {
        func number(_ name: StaticString) -> [UInt8]? { node[name]?.stringBytes.flatMap { Base64.decode($0) } }
        if node["kty"]?.string == "RSA", let modulus = number("n"), let exponent = number("e") {
            return VerificationKey(.rsa(modulus: modulus, exponent: exponent))
        }
        guard let x = number("x").flatMap({ Digest($0) }), let y = number("y").flatMap({ Digest($0) }) else {
            return nil
        }
        return VerificationKey(.p256(P256PublicKey(uncheckedX: x, y: y)))
    }
}
