/// One pass over a text, without recursion: open containers are linked through the nodes themselves.
struct JSONParser {
    private(set) var nodes: [JSONTape.Node] = []
    private let limits: JSONLimits
    private let allowInvalidUTF8: Bool
    private var (names, escapedNames) = (0, 0)
    private var position = 0
    private var depth = 0
    /// The innermost open container; its node's `next` is its parent until it closes.
    private var open = noContainer

    private static let noContainer = UInt32.max

    init(_ limits: JSONLimits, allowInvalidUTF8: Bool) {
        (self.limits, self.allowInvalidUTF8) = (limits, allowInvalidUTF8)
        // Enough for a typical record, and small enough for the allocator's fast path.
        nodes.reserveCapacity(min(48, max(limits.nodes, 1)))
    }

    /// Parses the value at `start` and the rest of the text; all offsets are from the beginning of `text`.
    mutating func parse(_ text: Span<UInt8>, from start: Int) throws(JSONFault) {
        // Offsets are kept in 32 bits.
        guard text.count < Int(UInt32.max) else { throw JSONFault(code: .tooManyNodes, offset: start) }
        position = start
        skipWhiteSpace(text)
        guard position < text.count else { throw JSONFault(code: .empty, offset: position) }
        repeat {
            try value(text)
        } while try moreFollows(text)
        skipWhiteSpace(text)
        guard position == text.count else { throw JSONFault(code: .trailingBytes, offset: position) }
    }

    /// Reads one value; of a container only its opening, and of an object also the first member's name.
    private mutating func value(_ text: Span<UInt8>) throws(JSONFault) {
        switch try peek(text) {
        case UInt8(ascii: "\""): try string(text)
        case UInt8(ascii: "{"): try openContainer(.object, text)
        case UInt8(ascii: "["): try openContainer(.array, text)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number(text)
        case UInt8(ascii: "t"): try literal("true", .bool, text)
        case UInt8(ascii: "f"): try literal("false", .bool, text)
        case UInt8(ascii: "n"): try literal("null", .null, text)
        default: throw syntax
        }
    }

    /// Closes the containers that end here, after a value or an opening bracket, and returns whether another value
    /// follows (its member's name is read already).
    private mutating func moreFollows(_ text: Span<UInt8>) throws(JSONFault) -> Bool {
        while open != Self.noContainer {
            let kind = nodes[Int(open)].kind
            let isEmpty = Int(open) == nodes.count - 1
            skipWhiteSpace(text)
            let byte = try peek(text)
            if byte == (kind == .object ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                closeContainer()
                continue
            }
            if !isEmpty {
                guard byte == UInt8(ascii: ",") else { throw syntax }
                position &+= 1
                skipWhiteSpace(text)
            }
            if kind == .object { try memberName(text) }
            return true
        }
        return false
    }

    private mutating func memberName(_ text: Span<UInt8>) throws(JSONFault) {
        guard try peek(text) == UInt8(ascii: "\"") else { throw syntax }
        let start = position
        guard names < limits.names else { throw JSONFault(code: .tooManyMembers, offset: start) }
        names += 1
        try string(text)
        guard position - start - 2 <= limits.nameBytes else { throw JSONFault(code: .nameTooLong, offset: start) }
        if nodes[nodes.count - 1].isEscaped {
            guard escapedNames < limits.escapedNames else { throw JSONFault(code: .tooManyMembers, offset: start) }
            escapedNames += 1
        }
        skipWhiteSpace(text)
        guard try peek(text) == UInt8(ascii: ":") else { throw syntax }
        position &+= 1
        skipWhiteSpace(text)
    }

    private mutating func openContainer(_ kind: JSONNode.Kind, _ text: Span<UInt8>) throws(JSONFault) {
        guard depth < limits.depth else { throw JSONFault(code: .tooDeep, offset: position) }
        depth += 1
        let parent = open
        open = UInt32(nodes.count)
        try append(kind, from: position, to: position, next: parent)
        position &+= 1
    }

    private mutating func closeContainer() {
        let index = Int(open)
        position &+= 1
        depth -= 1
        open = nodes[index].next
        nodes[index].next = UInt32(nodes.count)
        nodes[index].end = UInt32(position)
    }

    private mutating func append(
        _ kind: JSONNode.Kind,
        from start: Int,
        to end: Int,
        next: UInt32? = nil,
        isEscaped: Bool = false
    ) throws(JSONFault) {
        guard nodes.count < limits.nodes else { throw JSONFault(code: .tooManyNodes, offset: start) }
        nodes.append(
            JSONTape.Node(
                start: UInt32(start),
                end: UInt32(end),
                next: next ?? UInt32(nodes.count + 1),
                kind: kind,
                isEscaped: isEscaped
            )
        )
    }

    private mutating func string(_ text: Span<UInt8>) throws(JSONFault) {
        let start = position + 1
        var index = start
        var isEscaped = false
        var fruitless = 0
        while true {
            index = ByteScan.endOfPlainRun(text, from: index)
            guard index < text.count else { throw JSONFault(code: .syntax, offset: text.count) }
            let byte = text[index]
            if byte == UInt8(ascii: "\"") { break }
            if byte == UInt8(ascii: "\\") {
                isEscaped = true
                // Base64 with its slashes escaped, as some encoders write it.
                if fruitless < Self.mostFruitless, isEscapedSlash(text, at: index) {
                    let end = ByteScan.endOfSlashRun(text, from: index)
                    if end &- index < Self.fruit { fruitless &+= 1 }
                    guard end == index else {
                        index = end
                        continue
                    }
                }
                if fruitless == Self.mostFruitless, isLoneShortEscape(text, at: index) {
                    index &+= 2
                    continue
                }
                // Escapes come in runs, which must not cost more than other bytes.
                let run = ByteScan.endOfUnicodeRun(text, from: ByteScan.endOfShortRun(text, from: index))
                var end = run
                if fruitless < Self.mostFruitless {
                    end = ByteScan.endOfMixedRun(text, from: run)
                    if end &- run < Self.fruit { fruitless &+= 1 }
                }
                guard end == index else {
                    index = end
                    continue
                }
                guard let next = JSONEscape.check(text, at: index) else {
                    throw JSONFault(code: .syntax, offset: index)
                }
                index = next
            } else if byte < 0x20 {
                throw JSONFault(code: .syntax, offset: index)
            } else if allowInvalidUTF8 {
                index &+= 1
            } else {
                // Runs of such characters must not cost more than other bytes.
                let end = ByteScan.endOfMultibyteRun(text, from: index)
                guard end == index else {
                    index = end
                    continue
                }
                guard let next = UTF8Text.endOfSequence(text, at: index) else {
                    throw JSONFault(code: .invalidUTF8, offset: index)
                }
                index = next
            }
        }
        try append(.string, from: start, to: index, isEscaped: isEscaped)
        position = index + 1
    }

    /// A look for a run in words pays where the run has so many bytes; in a string where it often does not, there are no
    /// more.
    private static let fruit = 32
    private static let mostFruitless = 8

    @inline(__always)
    private func isEscapedSlash(_ text: Span<UInt8>, at index: Int) -> Bool {
        index &+ 1 < text.count && text[index &+ 1] == UInt8(ascii: "/")
    }

    /// Whether a two-character escape is at `index`, and none follows it.
    @inline(__always)
    private func isLoneShortEscape(_ text: Span<UInt8>, at index: Int) -> Bool {
        index &+ 2 < text.count && text[index &+ 2] != UInt8(ascii: "\\") && JSONEscape.short(text[index &+ 1]) != nil
    }

    private mutating func number(_ text: Span<UInt8>) throws(JSONFault) {
        let start = position
        if text[position] == UInt8(ascii: "-") { position &+= 1 }
        if position < text.count, text[position] == UInt8(ascii: "0") {
            position &+= 1
        } else {
            try digits(text)
        }
        if position < text.count, text[position] == UInt8(ascii: ".") {
            position &+= 1
            try digits(text)
        }
        if position < text.count, text[position] | 0x20 == UInt8(ascii: "e") {
            position &+= 1
            if position < text.count, text[position] == UInt8(ascii: "+") || text[position] == UInt8(ascii: "-") {
                position &+= 1
            }
            try digits(text)
        }
        try append(.number, from: start, to: position)
    }

    /// One digit or more.
    private mutating func digits(_ text: Span<UInt8>) throws(JSONFault) {
        let start = position
        while position < text.count, case UInt8(ascii: "0")...UInt8(ascii: "9") = text[position] { position &+= 1 }
        guard position > start else { throw syntax }
    }

    private mutating func literal(
        _ word: StaticString,
        _ kind: JSONNode.Kind,
        _ text: Span<UInt8>
    ) throws(JSONFault) {
        let (start, end) = (position, position + word.utf8CodeUnitCount)
        guard end <= text.count, JSONCursor.holds(word, text.extracting(start..<end)) else { throw syntax }
        try append(kind, from: start, to: end)
        position = end
    }

    private mutating func skipWhiteSpace(_ text: Span<UInt8>) {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position &+= 1
            default: return
            }
        }
    }

    private func peek(_ text: Span<UInt8>) throws(JSONFault) -> UInt8 {
        guard position < text.count else { throw syntax }
        return text[position]
    }

    private var syntax: JSONFault { JSONFault(code: .syntax, offset: position) }
}
