internal import AppAttest

/// HTML and SVG as bytes, well-formed as XML too. Texts are escaped; what a record says goes through ``ShownText``.
struct Markup {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(64 << 10) }

    /// Markup of our own.
    mutating func raw(_ markup: String) { bytes += Array(markup.utf8) }

    /// A text of our own: the page's words, numbers and names from the configuration.
    mutating func text(_ text: String) { bytes += Self.escaped(text.utf8) }

    /// A text from outside: what is invisible is shown, and what is long is cut.
    mutating func foreign(_ text: String) {
        element("bdi") { $0.text(ShownText.of(text)) }
    }

    mutating func element(
        _ name: String,
        _ attributes: KeyValuePairs<String, String> = [:],
        _ body: (inout Markup) -> Void = { _ in }
    ) {
        open(name, attributes)
        raw(">")
        body(&self)
        raw("</\(name)>")
    }

    mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String>, _ text: String) {
        element(name, attributes) { $0.text(text) }
    }

    mutating func element(_ name: String, _ text: String) { element(name, [:], text) }

    /// An element without content, as HTML's void elements and SVG's shapes are.
    mutating func empty(_ name: String, _ attributes: KeyValuePairs<String, String> = [:]) {
        open(name, attributes)
        raw("/>")
    }

    private mutating func open(_ name: String, _ attributes: KeyValuePairs<String, String>) {
        raw("<\(name)")
        for (name, value) in attributes {
            raw(" \(name)=\"")
            text(value)
            raw("\"")
        }
    }

    /// Fit for content and for attributes in double quotes.
    private static func escaped(_ text: some Sequence<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        for byte in text {
            switch byte {
            case UInt8(ascii: "&"): result += Array("&amp;".utf8)
            case UInt8(ascii: "<"): result += Array("&lt;".utf8)
            case UInt8(ascii: ">"): result += Array("&gt;".utf8)
            case UInt8(ascii: "\""): result += Array("&quot;".utf8)
            case UInt8(ascii: "'"): result += Array("&#39;".utf8)
            // XML has no other control characters than these, and none of ours is needed.
            case 0..<0x20 where byte != 0x0A, 0x7F: result.append(UInt8(ascii: " "))
            default: result.append(byte)
            }
        }
        return result
    }
}
