import JSON
import Traffic

/// A link to a worker in memory, which accepts every call, and keeps it.
final class MemoryLink: StockLink {
    var isReady = true
    /// Whether calls are answered.
    var answers = true
    /// Whether connections break.
    var loses = false
    private(set) var ids: [String] = []
    private(set) var calls: [StockMember.Call] = []
    private(set) var forgotten: [String] = []
    private(set) var isClosed = false
    private var due: [LinkAnswer] = []
    private var used: Set<String> = []

    func send(_ call: StockMember.Call, id: String) throws {
        ids.append(id)
        calls.append(call)
        guard answers else { return }
        let body = try body(call)
        due.append(
            loses ? .lost(id, reason: "away") : LinkAnswer(id: id, status: 200, reason: nil, body: Array(body.utf8))
        )
    }

    private func body(_ call: StockMember.Call) throws -> String {
        let token = #""token":"h.\#(calls.count).s","ttl":"3600s""#
        switch call.verb {
        case "generateAppAttestChallenge": return #"{"challenge":"AAAA","ttl":"300s"}"#
        case "exchangeAppAttestAttestation": return #"{"artifact":"AAAA","appCheckToken":{\#(token)}}"#
        case "exchangeAppAttestAssertion": return "{\(token)}"
        default:
            let presented = try JSONDocument(parsing: call.value).root["body"]?["app_check_token"]?.string ?? ""
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
