internal import HTTPClient
internal import Settings
internal import Traffic

/// A call and its answer as curl shows them, without their secrets.
enum HTTPSample {
    /// Texts that are longer are secrets, or objects that say nothing to a reader.
    private static let longest = 40
    private static let shown = 6

    static func lines(_ call: StockMember.Call, _ answer: ClientAnswer, port: UInt16) -> [String] {
        var lines = ["> POST \(call.web.path) HTTP/1.1", "> Host: 127.0.0.1:\(port)"]
        lines += call.web.headers.map { "> \($0.name): \($0.value)" }
        lines += ["> ", shortened(call.web.body), "< HTTP/1.1 \(answer.status)"]
        lines += answer.headers.map { "< \($0.name): \(String(decoding: $0.value, as: UTF8.self))" }
        return lines + ["< ", shortened(answer.body)]
    }

    /// JSON with the beginnings of its long texts.
    static func shortened(_ json: [UInt8]) -> String {
        var output: [UInt8] = []
        let quote = UInt8(ascii: "\"")
        for (index, part) in json.split(separator: quote, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { output.append(quote) }
            // Between quotes; no text here has an escaped one.
            let isText = index % 2 == 1
            guard isText, part.count > longest else {
                output += part
                continue
            }
            output += part.prefix(shown) + Array("… (\(part.count.counted("character")))".utf8)
        }
        return String(decoding: output, as: UTF8.self)
    }
}
