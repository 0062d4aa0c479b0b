package import Crypto
package import Foundation
internal import JSON

/// What no log may hold: receipts, the tokens of calls, and the DeviceCheck key.
package struct RefreshSecrets {
    /// By what they are, each in the forms that a log could have.
    private(set) var needles: [(name: String, bytes: Data)] = []

    /// Receipts whose inner bytes are looked for; every receipt has the beginning of all.
    private static let mostReceipts = 8
    private static let piece = 24

    package init(key: SigningKey, calls: [RelayedCall]) {
        let pem = String(decoding: key.pem, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("-") }
        for line in pem where line.count > Self.piece { add("the key's file", Data(line.utf8)) }
        let der = Base64.decode(Array(pem.joined().utf8)) ?? []
        // The private number is an OCTET STRING of 32 bytes behind the version 1.
        if let start = Data(der).range(of: Data([2, 1, 1, 4, 32]))?.upperBound, start + 32 <= der.count {
            addForms("the key", Array(der[start..<start + 32]))
        }
        for token in Set(calls.map(\.token)) {
            for part in token.split(separator: ".") where part.count > Self.piece { add("a token", Data(part.utf8)) }
        }
        let receipts = calls.prefix(Self.mostReceipts).flatMap { [$0.receipt, $0.answeredReceipt ?? []] }
        for receipt in receipts where receipt.count > 1_000 {
            addForms("a receipt", Array(receipt[..<Self.piece]))
            // In groups of three, so that the text is a part of the receipt's.
            for start in [300, receipt.count / 6 * 3] {
                addForms("a receipt", Array(receipt[start..<start + Self.piece]))
            }
        }
    }

    private mutating func addForms(_ name: String, _ bytes: [UInt8]) {
        add(name, Data(bytes))
        add(name, Data(Base64.encode(bytes).prefix(Self.piece)))
        add(name, Data(bytes.map { String(format: "%02x", $0) }.joined().utf8))
    }

    private mutating func add(_ name: String, _ bytes: Data) {
        if !needles.contains(where: { $0.bytes == bytes }) { needles.append((name, bytes)) }
    }

    /// - Returns: what a text gives away.
    package func found(in text: Data) -> Set<String> {
        Set(needles.filter { text.range(of: $0.bytes) != nil }.map(\.name))
    }

    /// Reads what the processes of a folder have said. - Returns: what they gave away, by file.
    package func found(inStreamsOf folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
            .filter { $0.hasSuffix(".out") || $0.hasSuffix(".err") }
            .flatMap { name in
                let text = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
                return found(in: text).sorted().map { "\(name) has \($0)" }
            }
    }
}
