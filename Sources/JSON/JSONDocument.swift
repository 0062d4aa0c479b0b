/// A parsed JSON text (RFC 8259, strict): a flat list of nodes with offsets into the input instead of a tree of copies.
package struct JSONDocument: Sendable {
    private let tape: JSONTape

    /// - Parameters:
    ///   - bytes: the whole text; leftovers other than white space are refused, a byte order mark too.
    ///   - range: the part of `bytes` that is the text; nil = all.
    ///   - maxDepth: containers inside containers.
    ///   - maxNodes: values and member names together.
    ///   - allowInvalidUTF8: strings may hold bytes that are no UTF-8 (kcat writes them so).
    /// - Throws: ``JSONFault`` with the offset in the text. Hostile input never traps: depth and node count are limited.
    package init(
        parsing bytes: [UInt8],
        in range: Range<Int>? = nil,
        maxDepth: Int = 32,
        maxNodes: Int = 4096,
        allowInvalidUTF8: Bool = false
    ) throws(JSONFault) {
        let range = range ?? 0..<bytes.count
        var parser = JSONParser(maxDepth: maxDepth, maxNodes: maxNodes, allowInvalidUTF8: allowInvalidUTF8)
        do throws(JSONFault) {
            try parser.parse(bytes.span.extracting(..<range.upperBound), from: range.lowerBound)
        } catch {
            throw JSONFault(code: error.code, offset: error.offset - range.lowerBound)
        }
        tape = JSONTape(bytes: bytes, nodes: parser.nodes)
    }

    package var root: JSONNode { JSONNode(tape: tape, index: 0) }
}

package struct JSONFault: Error, Equatable, Sendable {
    package enum Code: Sendable { case syntax, invalidUTF8, tooDeep, tooManyNodes, leftover, empty }
    package let code: Code
    package let offset: Int

    package init(code: Code, offset: Int) {
        self.code = code
        self.offset = offset
    }
}
