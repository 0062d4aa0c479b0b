/// Reads the answers on a connection as a client does.
struct WireAnswers {
    /// Of the final ones that are whole.
    private(set) var statuses: [Int] = []

    /// - Parameter methods: of the requests, in their order: an answer to HEAD has no body. Reads no further answers.
    init(_ bytes: [UInt8], methods: [[UInt8]]) {
        var rest = bytes[...]
        while statuses.count < methods.count, let last = Self.end(rest) {
            let lines = rest[..<last].split(separator: 0x0A)
            rest = rest[(last + 4)...]
            guard let first = lines.first, first.starts(with: "HTTP/1.1 ".utf8),
                let status = Int(String(decoding: first.dropFirst(9).prefix(3), as: UTF8.self))
            else { return }
            if status == 100 { continue }
            let isBodiless = methods[statuses.count].elementsEqual("HEAD".utf8)
            guard let length = Self.length(lines), isBodiless || rest.count >= length else { return }
            rest = rest.dropFirst(isBodiless ? 0 : length)
            statuses.append(status)
        }
    }

    private static func end(_ bytes: ArraySlice<UInt8>) -> Int? {
        let end: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        return bytes.indices.first { bytes[$0] == 0x0D && bytes[$0...].starts(with: end) }
    }

    private static func length(_ lines: [ArraySlice<UInt8>]) -> Int? {
        let name = "Content-Length: "
        let found = lines.filter { $0.starts(with: name.utf8) }
        guard found.count == 1, let text = found.first?.dropFirst(name.utf8.count) else { return nil }
        return Int(String(decoding: text.filter { $0 != 0x0D }, as: UTF8.self))
    }
}
