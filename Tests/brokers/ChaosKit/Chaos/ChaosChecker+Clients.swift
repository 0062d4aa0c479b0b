internal import Streams

/// What stock clients have in the end, against the topics.
extension ChaosChecker {
    static func checkClients(_ evidence: ChaosEvidence, _ findings: inout ChaosFindings) {
        guard let report = evidence.clients else { return }
        for clause in report.crossed { findings.add(.answerCrossed, clause) }
        for clause in report.misled { findings.add(.clientMisled, clause) }
        let owners = owners(evidence)
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
    private static func owners(_ evidence: ChaosEvidence) -> [String: String] {
        var keys: [Call: String] = [:]
        for outcome in evidence.outcomes where outcome.verdict == "accepted" {
            guard let keyID = outcome.keyID, let id = outcome.requestID else { continue }
            keys[Call(outcome.source.partition, id)] = keyID
        }
        var owners: [String: String] = [:]
        for answer in evidence.answers ?? [] {
            guard let token = answer.token else { continue }
            owners[token.id] = keys[Call(answer.written.partition, answer.requestID)]
        }
        return owners
    }
}
