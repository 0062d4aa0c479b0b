/// Reads a page as XML does, and says what is wrong with it.
package struct StrictMarkup {
    private let bytes: [UInt8]
    private var place = 0
    private var open: [String] = []
    /// What was found first.
    package private(set) var fault: String?
    package private(set) var elements: [String: Int] = [:]
    package private(set) var links: [String] = []
    /// What scripts and styles hold, in order: no markup stands in them.
    package private(set) var raw: [String] = []

    package init(_ page: [UInt8]) {
        bytes = page
        if String(validating: page, as: UTF8.self) == nil { fault = "no UTF-8" }
        if bytes.starts(with: Array("<!DOCTYPE html>".utf8)) { place = 15 } else { fault = fault ?? "no doctype" }
        while fault == nil, place < bytes.count { next() }
        if fault == nil, !open.isEmpty { fault = "open: \(open)" }
    }

    private mutating func next() {
        switch bytes[place] {
        case UInt8(ascii: "<"): tag()
        case UInt8(ascii: "&"): entity()
        case 0..<0x20 where bytes[place] != 0x0A, 0x7F: fail("control character")
        default: place += 1
        }
    }

    private mutating func fail(_ text: String) {
        let near = String(decoding: bytes[max(0, place - 60)..<min(bytes.count, place + 60)], as: UTF8.self)
        fault = fault ?? "\(text) near \(near)"
    }

    private mutating func entity() {
        let end = bytes[place...].firstIndex(of: UInt8(ascii: ";")) ?? bytes.count
        let name = String(decoding: bytes[place..<min(end, place + 8)], as: UTF8.self)
        guard ["&amp", "&lt", "&gt", "&quot", "&#39"].contains(name) else { return fail("entity \(name)") }
        place = end
    }

    private mutating func tag() {
        // No text has a bare sign, so the first one ends the tag.
        guard let end = bytes[place...].firstIndex(of: UInt8(ascii: ">")) else { return fail("endless tag") }
        var text = String(decoding: bytes[(place + 1)..<end], as: UTF8.self)
        guard !text.contains("<") else { return fail("tag in tag") }
        if text.hasPrefix("/") {
            guard open.popLast() == String(text.dropFirst()) else { return fail("closes another element") }
            place = end + 1
            return
        }
        let isEmpty = text.hasSuffix("/")
        if isEmpty { text.removeLast() }
        let name = String(text.prefix { $0.isLetter || $0.isNumber })
        elements[name, default: 0] += 1
        attributes(text.dropFirst(name.count))
        place = end + 1
        guard !isEmpty else { return }
        open.append(name)
        guard ["script", "style"].contains(name) else { return }
        let close = Array("</".utf8)
        let start = place
        while place < bytes.count, !bytes[place...].starts(with: close) { place += 1 }
        raw.append(String(decoding: bytes[start..<place], as: UTF8.self))
    }

    private mutating func attributes(_ text: Substring) {
        let pattern = #/ ([a-zA-Z][-a-zA-Z]*)="([^"<>]*)"/#
        var rest = text
        while let match = rest.prefixMatch(of: pattern) {
            if ["href", "src"].contains(match.1) { links.append(String(match.2)) }
            if match.1.hasPrefix("on") || match.1 == "style" { fail("attribute \(match.1)") }
            rest = rest[match.range.upperBound...]
        }
        if !rest.isEmpty { fail("attributes \(rest)") }
    }
}
