internal import AppAttest
internal import JSON

/// The paths read last and their meanings: most records of a batch share theirs. For one decoder only.
package struct RequestPaths {
    /// Shared by its requests: a copy would touch five counts for each.
    final class Path {
        /// Empty: too long to be one.
        let bytes: [UInt8]
        /// The part that may be echoed.
        let echo: ExactText
        let appID: ExactText?
        /// The verb of an operator's command, which has no target.
        let command: OperatorCommand.Action?
        let target: Result<RequestTarget, Reason>

        init(
            bytes: [UInt8],
            echo: ExactText,
            appID: ExactText?,
            command: OperatorCommand.Action?,
            target: Result<RequestTarget, Reason>
        ) {
            (self.bytes, self.echo, self.appID) = (bytes, echo, appID)
            (self.command, self.target) = (command, target)
        }
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
        return body(paths[last])
    }

    private mutating func add(_ path: Path) -> Int {
        if paths.count == Self.most { paths.removeFirst() }
        paths.append(path)
        return paths.count - 1
    }

    private static func holds(_ path: Path, _ bytes: Span<UInt8>) -> Bool {
        // Held while its span is read.
        let known = path.bytes
        return Bytes.areEqual(bytes, known.span)
    }
}

/// The verb and the resource that a path asks for.
struct RequestTarget {
    let verb: Verb
    let resource: Request.Resource
    let isBeta: Bool
}
