internal import AppAttest
internal import JSON

/// The paths read last and their meanings: most records of a batch share theirs. For one decoder only.
package struct RequestPaths {
    struct Path {
        /// Empty: too long to be one.
        var bytes: [UInt8] = []
        /// The part that may be echoed.
        var echo: ExactText = ""
        var appID: ExactText?
        var target: Result<RequestTarget, Reason> = .failure(.malformedRequest)
    }

    /// A batch with more of them reads some again.
    private static let most = 16

    private var paths: [Path] = []
    private var last = 0

    package init() {}

    /// Calls `body` with the path of these bytes, read by `decoder` if it is not known.
    mutating func with<Result>(_ bytes: Span<UInt8>, _ decoder: RequestDecoder, _ body: (Path) -> Result) -> Result {
        if last >= paths.count || !Self.holds(paths[last], bytes) {
            last = paths.firstIndex { Self.holds($0, bytes) } ?? add(decoder.read(Bytes.copy(bytes)))
        }
        // An element of a span is read in place.
        let known = paths.span
        return body(known[last])
    }

    private mutating func add(_ path: Path) -> Int {
        if paths.count == Self.most { paths.removeFirst() }
        paths.append(path)
        return paths.count - 1
    }

    private static func holds(_ path: Path, _ bytes: Span<UInt8>) -> Bool { Bytes.areEqual(bytes, path.bytes.span) }
}

/// What a path asks for.
struct RequestTarget {
    let method: Method
    let resource: Request.Resource
    let isBeta: Bool
}
