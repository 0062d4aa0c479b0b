package import Settings

/// The JSON Schema of what every report has; each kind has members of its own before it.
extension Report {
    package static var schema: JSONTree {
        let part = JSONSchema.any([
            object(["heading": text]), object(["text": text]), object(["lead": text]),
            object(["tiles": list(object(["name": text, "value": value], ["note": text, "hue": hue]))]),
            object(["table": table]), object(["chart": chart]), object(["reasons": list(entry)]),
            object(["records": list(entry)]),
        ])
        let section = object(["id": text, "title": text, "parts": list(part)])
        return object(["title": text, "lead": text, "sections": list(section)], ["diagnosis": diagnosis])
    }

    /// A replay's own member. Times are milliseconds since 1970; without a trait nothing but the time is common.
    private static var diagnosis: JSONTree {
        let trait = object(["name": text, "value": text])
        let cell = object(["units": count, "met": count, "withoutDevice": count])
        let part = object(["inside": cell, "outside": cell, "acceptedToo": count], ["reason": text])
        let finding = object(
            ["sentence": text, "sameDevices": list(trait), "reasons": list(part)],
            ["trait": trait, "from": count, "until": count]
        )
        return object(["comparisons": count, "findings": list(finding)])
    }

    private static let text = JSONSchema.string
    private static let number = JSONTree(["type": "number"])
    private static let count = JSONSchema.integer(0...Int64.max)
    private static let hue = JSONSchema.choice(Hue.allCases.map(\.rawValue))
    private static let null = JSONTree(["type": "null"])

    private static func list(_ element: JSONTree) -> JSONTree { JSONSchema.list(of: element) }

    /// A later version may add members.
    private static func object(
        _ members: KeyValuePairs<String, JSONTree>,
        _ optional: KeyValuePairs<String, JSONTree> = [:]
    ) -> JSONTree {
        let others = optional.map { JSONSchema.Member($0.key, $0.value, isRequired: false) }
        return JSONSchema.object(members.map { JSONSchema.Member($0.key, $0.value) } + others, isClosed: false)
    }

    private static var value: JSONTree {
        JSONSchema.any([text, number, null, object(["part": count, "of": count], ["lift": number])])
    }

    private static var entry: JSONTree {
        let pair = object(["name": text, "text": text], ["expected": text])
        return object(
            ["title": text, "details": list(text), "notes": list(text), "pairs": list(pair)],
            ["lead": text, "command": text]
        )
    }

    private static let marks = list(object(["name": text, "hue": hue]))
    private static let axis = object(["start": JSONTree(["type": "integer"]), "width": count, "count": count])

    private static var table: JSONTree {
        let drawn = list(JSONSchema.any([number, list(number)]))
        let row = object(
            ["cells": list(value)],
            ["isGroup": JSONSchema.boolean, "drawn": drawn, "hue": hue, "command": text]
        )
        let chart = object(
            ["kind": JSONSchema.choice(["columns", "marks", "parts"])],
            ["axis": axis, "from": number, "to": number, "kinds": marks, "hues": list(hue)]
        )
        return object(["columns": list(text), "rows": list(row)], ["chart": chart, "legend": marks])
    }

    private static var chart: JSONTree {
        let series = object(["name": text, "hue": hue, "values": list(number)], ["text": text])
        let rate = object(["part": count, "of": count, "low": number, "high": number])
        return object(
            ["title": text, "kind": JSONSchema.choice(["columns", "rates", "lines"])],
            [
                "note": text, "legend": marks, "axis": axis, "series": list(series),
                "rates": list(JSONSchema.any([rate, null])), "bound": number, "top": number, "x": text, "y": text,
                "steps": list(count),
            ]
        )
    }
}
