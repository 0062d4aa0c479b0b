internal import Foundation

/// A message of HTTP/1.1 whose header names its length.
struct HTTPMessage: Equatable {
    /// The request's line, or the answer's.
    var start: String
    /// By lower-case names.
    var headers: [String: String]
    var body: [UInt8]

    /// Of an answer.
    var status: Int? {
        let words = start.split(separator: " ")
        return words.count > 1 ? Int(words[1]) : nil
    }
}

/// Finds the messages in one direction of a connection.
struct HTTPMessages {
    private var bytes: [UInt8] = []

    /// - Returns: the messages that are whole by now.
    mutating func take(_ more: some Sequence<UInt8>) -> [HTTPMessage] {
        bytes += more
        var messages: [HTTPMessage] = []
        while let message = next() { messages.append(message) }
        return messages
    }

    private static let blankLine = Data("\r\n\r\n".utf8)

    private mutating func next() -> HTTPMessage? {
        let data = Data(bytes)
        guard let end = data.range(of: Self.blankLine) else { return nil }
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            if parts.count == 2 { headers[parts[0].lowercased()] = parts[1] }
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        guard data.count - end.upperBound >= length else { return nil }
        let body = Array(data[end.upperBound..<end.upperBound + length])
        bytes.removeFirst(end.upperBound + length)
        return HTTPMessage(start: lines[0], headers: headers, body: body)
    }
}
