internal import Foundation
internal import Settings

/// Text for HTML and SVG.
enum Markup {
    /// Fit for content and for attributes in double quotes.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.append(character)
            }
        }
        return result
    }

    /// A figure for readers: three digits, or all of a larger whole number.
    static func figure(_ value: Double) -> String {
        switch value {
        // As rounded: 9.996 is 10.0.
        case 99.95...: Int(value.rounded()).grouped
        case 9.995...: String(format: "%.1f", value)
        default: String(format: "%.2f", value)
        }
    }

    /// Microseconds, or milliseconds where there are many.
    static func time(_ microseconds: Double) -> String {
        microseconds < 2000 ? figure(microseconds) + " µs" : figure(microseconds / 1000) + " ms"
    }

    /// A tick's value: no digits that are not needed.
    static func tick(_ value: Double) -> String {
        value >= 1 ? Int(value.rounded()).grouped : String(format: "%g", value)
    }

    /// A place in a picture.
    static func point(_ value: Double) -> String { String(format: "%.1f", value) }
}
