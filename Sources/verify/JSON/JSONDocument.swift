/// A parsed JSON text (RFC 8259, strict): a flat list of nodes with offsets into the input instead of a tree of copies.
package struct JSONDocument: Sendable {
    private let tape: JSONTape

    /// - Parameters:
    ///   - bytes: the whole text; trailing bytes other than white space are refused, a byte order mark too.
    ///   - range: the part of `bytes` that is the text; nil = all.
    ///   - maxDepth: containers inside containers.
    ///   - maxNodes: values and member names together.
    ///   - allowInvalidUTF8: strings may hold bytes that are not UTF-8 (kcat writes them so).
    /// - Throws: ``JSONFault`` with the offset in the text. Hostile input never traps: depth and node count are limited.
    package init(
        parsing bytes: [UInt8],
        in range: Range<Int>? = nil,
        maxDepth: Int = 32,
        maxNodes: Int = 4096,
        allowInvalidUTF8: Bool = false
    ) throws(JSONFault) {
        let limits = JSONLimits(depth: maxDepth, nodes: maxNodes)
        var beginning: JSONBeginning?
        try self.init(parsing: bytes, in: range, limits, allowInvalidUTF8: allowInvalidUTF8, beginning: &beginning)
    }

    /// - Parameter beginning: the part that was read before the fault.
    package init(
        parsing bytes: [UInt8],
        in range: Range<Int>? = nil,
        _ limits: JSONLimits,
        allowInvalidUTF8: Bool = false,
        beginning: inout JSONBeginning?
    ) throws(JSONFault) {
        let range = range ?? 0..<bytes.count
        var parser = JSONParser(limits, allowInvalidUTF8: allowInvalidUTF8)
        do throws(JSONFault) {
            try parser.parse(bytes.span.extracting(..<range.upperBound), from: range.lowerBound)
        } catch {
            beginning = JSONBeginning(tape: JSONTape(bytes: bytes, nodes: parser.nodes))
            throw JSONFault(code: error.code, offset: error.offset - range.lowerBound)
        }
        tape = JSONTape(bytes: bytes, nodes: parser.nodes)
    }

    package var root: JSONNode { JSONNode(tape: tape, index: 0) }
}

/// The limits of a text, which bound the time that a hostile one can cost.
package struct JSONLimits: Sendable {
    /// Containers inside containers.
    package var depth: Int
    /// Values and member names together.
    package var nodes: Int
    /// Member names of all objects together.
    package var names: Int
    /// The most bytes of a member's name as it is written, escapes included.
    package var nameBytes: Int

    /// Member names with escapes in them, which no request needs and which cost a copy each to compare.
    package var escapedNames: Int

    package init(
        depth: Int = 32,
        nodes: Int = 4096,
        names: Int = .max,
        nameBytes: Int = .max,
        escapedNames: Int = .max
    ) {
        (self.depth, self.nodes, self.names) = (depth, nodes, names)
        (self.nameBytes, self.escapedNames) = (nameBytes, escapedNames)
    }

    /// Many times the size of any request, token or capture line: at most a dozen members, with names of 24 bytes.
    package static let record = JSONLimits(depth: 16, nodes: 128, names: 24, nameBytes: 64, escapedNames: 2)
}

/// The part of a text before the place where reading it ended.
package struct JSONBeginning: Sendable {
    private let tape: JSONTape

    init(tape: JSONTape) { self.tape = tape }

    /// The first string of that name among the root's members that were read completely.
    package func string(_ name: StaticString) -> [UInt8]? {
        guard tape.nodes.first?.kind == .object else { return nil }
        var child = 1
        while child + 1 < tape.nodes.count {
            let value = tape.nodes[child + 1]
            if value.kind == .string, tape.content(child, equals: name) { return tape.content(child + 1) }
            // An open container's `next` is its parent, which lies before it.
            guard Int(value.next) > child + 1 else { return nil }
            child = Int(value.next)
        }
        return nil
    }
}

package struct JSONFault: Error, Equatable, Sendable {
    package enum Code: Sendable {
        case syntax, invalidUTF8, trailingBytes, empty
        /// The text is JSON so far, but exceeds a limit.
        case tooDeep, tooManyNodes, tooManyMembers, nameTooLong
    }
    package let code: Code
    package let offset: Int

    package var isLimit: Bool {
        switch code {
        case .tooDeep, .tooManyNodes, .tooManyMembers, .nameTooLong: true
        case .syntax, .invalidUTF8, .trailingBytes, .empty: false
        }
    }

    package init(code: Code, offset: Int) { (self.code, self.offset) = (code, offset) }
}
