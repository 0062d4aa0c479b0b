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
        console.print("\nThe App Check exchange: \(count) stock clients through the topics, \(tally.calls) calls:")
        var table = TextTable([.left, .right])
        table.add("challenge, attestation, session token", tally.sessions.grouped)
        table.add("challenge, assertion, new session token", tally.refreshed.grouped)
        table.add("challenge, assertion, limited-use token", tally.limitedUse.grouped)
        table.add("verifyAppCheckToken, {} and then {\"alreadyConsumed\": true}", tally.consumed.grouped)
        table.add("tokens minted", tally.minted.grouped)
        console.print(table.text)
        tally.printUnexpected(on: console)
        let verified = verify(console)
        let isWhole = tally.isWhole(clients: count)
        if !isWhole { console.print("UNEXPECTED: not every client finished") }
        return verified && isWhole && tally.isExpected ? ExitCode.done : ExitCode.failed
    }

    /// Prints the last token's claims, never the token, and checks it as its receiver does: with the key set alone.
    private func verify(_ console: Console) -> Bool {
        guard let token = fleet.tally.tokens.last, let read = ReadToken(Array(token.utf8)) else { return false }
        console.print("\nThe contents of a token (the token itself is a secret):")
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

extension StockTally {
    /// Whether each client got each of its tokens.
    func isWhole(clients: Int) -> Bool { [sessions, refreshed, limitedUse, consumed].allSatisfy { $0 == clients } }

    /// Whether no call was refused and every answer could be used.
    var isExpected: Bool { faults.isEmpty && refused.isEmpty }

    func printUnexpected(on console: Console) {
        for fault in faults.prefix(5) { console.print("UNEXPECTED: \(fault)") }
        for (reason, times) in refused.sorted(by: { $0.key < $1.key }) {
            console.print("UNEXPECTED: refused \(times) times: \(reason)")
        }
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
            let key = try? VerificationKeys(jsonWebKeySet: keySet).publicKey(kid)
        else { return false }
        return key.isValid(signature, of: signingInput)
    }
}
