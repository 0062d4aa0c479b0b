/// HTML as bytes, well-formed as XML too. Every text is escaped, and nothing in it hides or turns the line around.
package struct Markup {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    /// Markup of our own.
    package mutating func raw(_ markup: String) { bytes += Array(markup.utf8) }

    package mutating func text(_ text: String) {
        for byte in ShownText.whole(text).utf8 {
            switch byte {
            case UInt8(ascii: "&"): raw("&amp;")
            case UInt8(ascii: "<"): raw("&lt;")
            case UInt8(ascii: ">"): raw("&gt;")
            case UInt8(ascii: "\""): raw("&quot;")
            case UInt8(ascii: "'"): raw("&#39;")
            default: bytes.append(byte)
            }
        }
    }

    package mutating func element(
        _ name: String,
        _ attributes: KeyValuePairs<String, String> = [:],
        _ body: (inout Markup) -> Void
    ) {
        raw("<\(name)")
        for (name, value) in attributes where !value.isEmpty {
            raw(" \(name)=\"")
            text(value)
            raw("\"")
        }
        raw(">")
        body(&self)
        raw("</\(name)>")
    }

    package mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String>, _ text: String) {
        element(name, attributes) { $0.text(text) }
    }

    package mutating func element(_ name: String, _ text: String) { element(name, [:], text) }

    /// JSON in a script that no browser runs: no byte of it ends the element.
    mutating func data(_ json: [UInt8]) {
        for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "<": raw("\\u003C")
            case ">": raw("\\u003E")
            case "&": raw("\\u0026")
            case "\u{2028}": raw("\\u2028")
            case "\u{2029}": raw("\\u2029")
            default: bytes += Array(scalar.utf8)
            }
        }
    }
}
