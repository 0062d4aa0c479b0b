import JSON
import Traffic

/// A link to a worker in memory, which accepts every call.
final class MemoryLink: StockLink {
    var isReady = true
    /// Whether calls are answered.
    var answers = true
    private(set) var sent: [(id: String, verb: String)] = []
    private(set) var forgotten: [String] = []
    private(set) var isClosed = false
    private var due: [LinkAnswer] = []
    private var used: Set<String> = []

    func send(_ call: StockMember.Call, id: String) throws {
        let root = try JSONDocument(parsing: call.value).root
        let verb = String(root["path"]?.string?.split(separator: ":").last ?? "")
        sent.append((id, verb))
        guard answers else { return }
        due.append(LinkAnswer(id: id, status: 200, reason: nil, body: Array(body(verb, root).utf8)))
    }

    private func body(_ verb: String, _ root: JSONNode) -> String {
        let token = #""token":"h.\#(sent.count).s","ttl":"3600s""#
        switch verb {
        case "generateAppAttestChallenge": return #"{"challenge":"AAAA","ttl":"300s"}"#
        case "exchangeAppAttestAttestation": return #"{"artifact":"AAAA","appCheckToken":{\#(token)}}"#
        case "exchangeAppAttestAssertion": return "{\(token)}"
        default:
            let presented = root["body"]?["app_check_token"]?.string ?? ""
            return used.insert(presented).inserted ? "{}" : #"{"alreadyConsumed":true}"#
        }
    }

    func poll(milliseconds: Int) -> [LinkAnswer] {
        defer { due = [] }
        return due
    }

    func forget(_ id: String) { forgotten.append(id) }

    func close() { isClosed = true }
}
