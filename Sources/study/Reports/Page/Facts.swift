internal import JSON

/// JSON as a value. An object keeps the order of its members and leaves out those that are nil.
package indirect enum Facts {
    package typealias Member = (name: String, value: Facts?)

    case object([Member])
    case list([Facts])
    case text(String)
    /// A number as it is written.
    case number(String)
    case flag(Bool)
    case null

    package static func count(_ count: some BinaryInteger) -> Facts { .number("\(count)") }

    /// - Parameter digits: behind the point; nil = as many as tell the number from all others.
    package static func figure(_ figure: Double, digits: Int? = nil) -> Facts {
        guard figure.isFinite, abs(figure) < 1e12 else { return .null }
        if let digits { return .number(Figure.plain(figure, digits)) }
        return .number(Int64(exactly: figure).map { "\($0)" } ?? "\(figure)")
    }

    static func figures(_ figures: [Double]) -> Facts { .list(figures.map { .figure($0) }) }

    /// Null where there is no text.
    package static func textOrNull(_ text: String?) -> Facts { text.map { .text($0) } ?? .null }

    /// Counts in the order of their names.
    package static func counts(_ counts: [String: Int]) -> Facts {
        .object(counts.sorted { $0.key < $1.key }.map { ($0.key, .count($0.value)) })
    }

    /// nil for an empty text.
    static func filled(_ text: String?) -> Facts? { text.flatMap { $0.isEmpty ? nil : .text($0) } }

    private func write(into json: inout JSONWriter) {
        switch self {
        case .object(let members):
            json.beginObject()
            for (name, value) in members {
                guard let value else { continue }
                json.key(named: name)
                value.write(into: &json)
            }
            json.endObject()
        case .list(let values):
            json.beginArray()
            for value in values { value.write(into: &json) }
            json.endArray()
        case .text(let text): json.string(text)
        case .number(let digits): json.raw(Array(digits.utf8))
        case .flag(let flag): json.value(flag)
        case .null: json.null()
        }
    }

    package var json: [UInt8] {
        var json = JSONWriter(capacity: 4 << 10)
        write(into: &json)
        return json.takeBytes()
    }
}

extension Facts: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, Facts?)...) {
        self = .object(elements.map { (name: $0.0, value: $0.1) })
    }
}
