internal import HTTP

/// A call's path and query, percent-decoded once.
struct CallTarget: Equatable {
    /// Begins with a slash; UTF-8 is not checked.
    let path: [UInt8]
    private let query: [Parameter]

    /// Percent-decoded once.
    struct Parameter: Equatable {
        let name: [UInt8]
        let value: [UInt8]
    }

    /// - Parameter target: as it was sent.
    /// - Returns: nil for a bad escape, a control character, a fragment, an encoded slash or question mark, an empty
    ///   segment that is not the last, and the segments `.` and `..`: a proxy may have read another path in them.
    init?(_ target: [UInt8]) {
        guard target.first == UInt8(ascii: "/"), !target.contains(UInt8(ascii: "#")) else { return nil }
        let end = target.firstIndex(of: UInt8(ascii: "?")) ?? target.count
        guard let path = Self.decode(target[..<end], reserved: Array("/?#".utf8)), Self.isPlain(path) else {
            return nil
        }
        self.path = path
        guard let query = Self.parameters(target[min(end + 1, target.count)...], separator: "&") else { return nil }
        self.query = query
    }

    /// - Returns: nil for a bad escape or a control character.
    static func parameters(_ text: ArraySlice<UInt8>, separator: Unicode.Scalar) -> [Parameter]? {
        var parameters: [Parameter] = []
        for part in text.split(separator: UInt8(ascii: separator)) {
            let halves = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(halves[0]), let value = decode(halves.count == 2 ? halves[1] : []) else {
                return nil
            }
            parameters.append(Parameter(name: name, value: value))
        }
        return parameters
    }

    /// The last parameter of this name.
    func parameter(_ name: String) -> [UInt8]? { query.last { $0.name.elementsEqual(name.utf8) }?.value }

    /// The part after the path's last colon; nil where it has none.
    var verb: ArraySlice<UInt8>? {
        path.lastIndex(of: UInt8(ascii: ":")).map { path[($0 + 1)...] }
    }

    private static func isPlain(_ path: [UInt8]) -> Bool {
        let segments = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return segments.dropLast().allSatisfy { !$0.isEmpty }
            && segments.allSatisfy { segment in
                !segment.elementsEqual(".".utf8) && !segment.elementsEqual("..".utf8)
            }
    }

    /// - Parameter reserved: characters that an escape must not stand for.
    private static func decode(_ text: ArraySlice<UInt8>, reserved: [UInt8] = []) -> [UInt8]? {
        PercentCoding.decode(text) { byte, isEscaped in
            byte >= 0x20 && byte != 0x7F && !(isEscaped && reserved.contains(byte))
        }
    }
}
