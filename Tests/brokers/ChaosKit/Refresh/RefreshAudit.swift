internal import BrokerKit
internal import Crypto
internal import Foundation
internal import JSON

/// Checks what the fraud metric promises: no receipt is lost, and no position passes one whose exchange has not ended;
/// what was accepted is in ledger, receipts topic and events, and of forgotten keys nothing is.
package enum RefreshAudit {
    /// Calls for one receipt, after which its line skips it.
    private static let mostCalls = 5

    /// - Returns: what is wrong, a line each.
    package static func findings(_ evidence: RefreshEvidence) -> [String] {
        var findings = evidence.unread
        let calls = Dictionary(grouping: evidence.calls, by: \.key)
        for key in Set(evidence.due.keys).union(evidence.found.keys).sorted() {
            let (due, found) = (evidence.due[key] ?? .init(), evidence.found[key] ?? .init())
            if due != found { findings.append("\(key) is \(found), and by its results \(due)") }
            let receipts = evidence.receipts[key] ?? []
            findings += exchanges(receipts, calls[key] ?? [], evidence.passed[key] ?? 0).map { "\(key): \($0)" }
        }
        let odd = evidence.events.sorted().difference(from: evidence.accepted.sorted())
        return findings + odd.map { "events: \($0)" }
    }

    /// A line passes a receipt that has become a request, that Apple answered with nothing that counts, or that failed too
    /// often.
    private static func exchanges(_ receipts: [[UInt8]], _ calls: [AppleDouble.Call], _ passed: Int) -> [String] {
        let (refused, failed) = (calls.count { $0.isFinal && $0.answer == nil }, calls.count { !$0.isFinal })
        let ended = receipts.count + refused + failed / mostCalls
        let isAnswered = Set(receipts).isSubset(of: calls.compactMap(\.answer))
        return (ended < passed ? ["\(ended) exchanges have ended, and the lines have passed \(passed)"] : [])
            + (isAnswered ? [] : ["it has a receipt that nobody answered"])
    }
}

extension RefreshSite {
    /// Files of what the processes have said that have a receipt, a call's token or the DeviceCheck key.
    package func leaks() throws -> [String] {
        let pem = String(decoding: key.pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-") }
        let texts = pem + Set(apple.calls.flatMap { $0.token.split(separator: ".") })
        // From inside a few of them, since all begin alike, and as Base64 and digits have them.
        let receipts = apple.calls.prefix(8).flatMap { [$0.receipt, $0.answer ?? []] }.filter { $0.count > 324 }
        let forms = receipts.map { Array($0[300..<324]) }.flatMap { piece in
            [piece, Base64.encode(piece), Array(piece.map { String(format: "%02x", $0) }.joined().utf8)]
        }
        let needles = texts.filter { $0.count > 24 }.map { Data($0.utf8) } + forms.map { Data($0) }
        let files = try FileManager.default.contentsOfDirectory(atPath: workplace.folder)
        return files.filter { $0.hasSuffix(".out") || $0.hasSuffix(".err") }.sorted().filter { name in
            let text = FileManager.default.contents(atPath: "\(workplace.folder)/\(name)") ?? Data()
            return needles.contains { text.range(of: $0) != nil }
        }
    }
}
