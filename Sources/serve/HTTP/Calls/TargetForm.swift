/// The forms of a request's target: RFC 9112, 3.2.
enum TargetForm {
    /// Path and query of a path, or of a whole URL. The URL's host, and any other one in `Host`, change nothing here.
    ///
    /// - Returns: nil for what has no path from the root, a fragment, a user, no host, or another scheme.
    static func origin(_ target: [UInt8]) -> [UInt8]? {
        guard target.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }) else { return nil }
        if target.first == slash { return target }
        guard let rest = ["http://", "https://"].compactMap({ suffix(of: target, after: $0) }).first else { return nil }
        let end = rest.firstIndex { $0 == slash || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let authority = Array(rest[..<end])
        guard let first = authority.first, first != UInt8(ascii: ":"), HostValue.isSound(authority) else { return nil }
        let path = rest[end...]
        return path.first == slash ? Array(path) : [slash] + path
    }

    private static let slash = UInt8(ascii: "/")

    private static func suffix(of target: [UInt8], after scheme: String) -> ArraySlice<UInt8>? {
        let start = target.prefix(scheme.utf8.count)
        return RequestHead.equal(Array(start), scheme) ? target.dropFirst(start.count) : nil
    }
}
