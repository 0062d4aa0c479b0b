/// Reads the answers on a connection as a client does.
struct WireAnswers {
    /// Of the final ones.
    private(set) var statuses: [Int] = []

    /// - Parameter methods: of the requests, in their order: an answer to HEAD has no body.
    /// - Returns: nil where the bytes are anything but whole answers.
    init?(_ bytes: [UInt8], methods: [[UInt8]]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
            guard let last = rest.indices.first(where: { rest[$0...].starts(with: end) }) else { return nil }
            let lines = rest[..<last].split(separator: 0x0A)
            rest = rest[(last + 4)...]
            guard let first = lines.first, first.starts(with: "HTTP/1.1 ".utf8),
                let status = Int(String(decoding: first.dropFirst(9).prefix(3), as: UTF8.self))
            else { return nil }
            if status == 100 { continue }
            guard statuses.count < methods.count, let length = Self.length(lines) else { return nil }
            let isBodiless = methods[statuses.count].elementsEqual("HEAD".utf8)
            statuses.append(status)
            if isBodiless { continue }
            guard rest.count >= length else { return nil }
            rest = rest.dropFirst(length)
        }
    }

    private static func length(_ lines: [ArraySlice<UInt8>]) -> Int? {
        let name = "Content-Length: "
        let found = lines.filter { $0.starts(with: name.utf8) }
        guard found.count == 1, let text = found.first?.dropFirst(name.utf8.count) else { return nil }
        return Int(String(decoding: text.filter { $0 != 0x0D }, as: UTF8.self))
    }
}
