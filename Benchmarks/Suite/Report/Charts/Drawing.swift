/// Elements of an SVG picture, one below the other, and how high they are.
struct Drawing {
    /// Every chart is as wide: a phone shows its text at nearly the size that it has here.
    static let width = 420.0

    private(set) var elements: [String] = []
    var height = 0.0

    mutating func text(_ text: String, _ x: Double, _ y: Double, _ classes: String = "", anchor: String = "start") {
        elements.append(
            "<text x=\"\(Markup.point(x))\" y=\"\(Markup.point(y))\" class=\"\(classes)\" text-anchor=\"\(anchor)\">"
                + Markup.escaped(text) + "</text>"
        )
    }

    mutating func bar(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ color: SeriesColor) {
        elements.append(
            "<rect x=\"\(Markup.point(x))\" y=\"\(Markup.point(y))\" width=\"\(Markup.point(max(width, 1)))\" "
                + "height=\"\(Markup.point(height))\" class=\"f\(color.rawValue)\"/>"
        )
    }

    mutating func line(_ from: (x: Double, y: Double), _ to: (x: Double, y: Double), _ classes: String) {
        elements.append(
            "<path d=\"M\(Markup.point(from.x)) \(Markup.point(from.y))L\(Markup.point(to.x)) \(Markup.point(to.y))\" "
                + "class=\"\(classes)\"/>"
        )
    }

    mutating func line(_ points: [(x: Double, y: Double)], _ color: SeriesColor) {
        let path = points.map { "\(Markup.point($0.x)) \(Markup.point($0.y))" }.joined(separator: "L")
        elements.append("<path d=\"M\(path)\" class=\"l\(color.rawValue)\"/>")
        for point in points { mark(point, color) }
    }

    /// A shape for each series, for those who do not tell its colour.
    mutating func mark(_ at: (x: Double, y: Double), _ color: SeriesColor) {
        let (x, y) = (at.x, at.y)
        let shape =
            switch color {
            case .first: "M\(x - 4) \(y)a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"
            case .second: "M\(x - 3.5) \(y - 3.5)h7v7h-7z"
            case .third, .fourth, .fifth: "M\(x) \(y - 5)L\(x + 5) \(y)L\(x) \(y + 5)L\(x - 5) \(y)z"
            }
        elements.append("<path d=\"\(shape)\" class=\"f\(color.rawValue)\"/>")
    }

    /// A line that explains the colours; moves everything after it down.
    mutating func legend(_ names: [(color: SeriesColor, name: String)]) {
        guard !names.isEmpty else { return }
        var x = 8.0
        for (color, name) in names {
            bar(x, height + 4, 12, 12, color)
            text(name, x + 18, height + 14)
            x += 18 + Self.width(of: name) + 10
        }
        height += 26
    }

    /// About as wide as the text is drawn, rather more: fonts differ.
    static func width(of text: String) -> Double { Double(text.count) * 8.4 }

    /// A picture by itself in a page.
    func svg(title: String) -> String {
        "<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(height.rounded(.up)))\" role=\"img\" "
            + "aria-label=\"\(Markup.escaped(title))\">\n" + elements.joined(separator: "\n") + "\n</svg>"
    }
}

/// A colour means the same in every chart: OpenSSL, `portable`, `ifma`; then what is no engine.
enum SeriesColor: Int {
    case first, second, third, fourth, fifth

    init(engine: String?) {
        switch engine {
        case "portable": self = .second
        case "ifma": self = .third
        default: self = .first
        }
    }
}
