internal import Streams

/// What stock clients have in the end, against the topics.
extension ChaosChecker {
    mutating func checkClients() {
        guard let report = evidence.clients else { return }
        for clause in report.crossed { findings.add(.answerCrossed, clause) }
        for clause in report.misled { findings.add(.clientMisled, clause) }
        let owners = tokenOwners()
        for client in report.clients {
            guard let keyID = client.keyID, let token = client.tokenID else {
                findings.add(.clientWithout, client.name)
                continue
            }
            if let ledger = evidence.ledger, ledger[keyID] == nil {
                findings.add(.clientKeyDiffers, "\(client.name): \(keyID) is not in the ledger")
            }
            guard let owner = owners[token] else {
                findings.add(.clientKeyDiffers, "\(client.name): its token \(token) is no accepted request's")
                continue
            }
            if owner != keyID { findings.add(.clientKeyDiffers, "\(client.name): its token is of \(owner)") }
        }
    }

    /// The keys whose requests got the tokens.
    private func tokenOwners() -> [String: String] {
        var keys: [Call: String] = [:]
        for outcome in accepted {
            guard let keyID = outcome.keyID, let id = outcome.requestID else { continue }
            keys[Call(outcome.source.partition, id)] = keyID
        }
        var owners: [String: String] = [:]
        for answer in evidence.answers ?? [] {
            if let token = answer.token { owners[token.id] = keys[answer.call] }
        }
        return owners
    }
}
