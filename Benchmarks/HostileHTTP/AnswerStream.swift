internal import Foundation

/// The answers on a connection, taken apart by their lengths.
package struct AnswerStream {
    package struct Answer {
        var status: Int
        /// `X-Seen`, which the lab's handler adds.
        var mark: String?
        var closes: Bool
    }

    package private(set) var answers: [Answer] = []
    /// What follows the answers that were asked for.
    private(set) var rest: ArraySlice<UInt8>

    /// - Parameter methods: of the requests that the handler has seen.
    package init(_ bytes: [UInt8], methods: [[UInt8]]) {
        rest = bytes[...]
        for method in methods {
            let isHead = method.elementsEqual("HEAD".utf8)
            var answer = next(isHead: isHead)
            // Interim answers come before.
            while answer?.status == 100 { answer = next(isHead: isHead) }
            guard let answer else { return }
            answers.append(answer)
        }
        skipInterim()
    }

    private mutating func next(isHead: Bool) -> Answer? {
        let end = Array("\r\n\r\n".utf8)
        guard let place = rest.indices.first(where: { rest[$0...].starts(with: end) }) else { return nil }
        let lines = String(decoding: rest[..<place], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count > 1, words[0] == "HTTP/1.1" || words[0] == "HTTP/1.0", let status = Int(words[1])
        else { return nil }
        func value(_ name: String) -> String? {
            lines.dropFirst().first { $0.lowercased().hasPrefix(name + ": ") }.map {
                String($0.dropFirst(name.count + 2))
            }
        }
        let length = isHead || status == 100 ? 0 : value("content-length").flatMap { Int($0) } ?? -1
        guard length >= 0, rest.endIndex - place - end.count >= length else { return nil }
        rest = rest[(place + end.count + length)...]
        return Answer(status: status, mark: value("x-seen"), closes: value("connection")?.lowercased() == "close")
    }

    private mutating func skipInterim() {
        while rest.starts(with: Array("HTTP/1.1 100 ".utf8)) {
            let before = rest.count
            _ = next(isHead: true)
            if rest.count == before { return }
        }
    }

    /// The status of the refusal behind the answers; nil = none.
    package var refusal: Int? {
        let text = String(decoding: rest.prefix(12), as: UTF8.self)
        return text.hasPrefix("HTTP/1.") ? Int(text.suffix(3)) : nil
    }
}
