internal import Reports
internal import Settings

/// The JSON Schemas of what the worker reads and writes. Those of its outputs allow members that a later version adds.
enum ContractSchema {
    struct Entry {
        let name: String
        let summary: String
        let schema: JSONTree

        /// The schema as a file.
        var text: String { JSONSchema.document(summary, schema).file }
    }

    static var all: [Entry] {
        Configuration.schemas.map { file, schema in
            let isProperties = file == "kafka.properties"
            return Entry(
                name: file,
                summary: isProperties ? "kafka.properties as an object of strings" : file,
                schema: schema
            )
        } + [
            Entry(name: "result", summary: "A record's value on the topic of results", schema: result),
            Entry(
                name: "result-headers",
                summary: "The headers of a result, as an object of strings",
                schema: resultHeaders
            ),
            Entry(name: "event", summary: "A record's value on the topic of events", schema: event),
            Entry(name: "keys", summary: "A line of a KEYS file", schema: keys),
            Entry(
                name: "dead-letter-headers",
                summary: "The headers that a dead letter adds, as an object of strings",
                schema: deadLetterHeaders
            ),
            Entry(
                name: "report",
                summary:
                    "What 'replay --json' prints, and 'rollout --json' and 'risk --json' behind members of their own",
                schema: Report.schema
            ),
        ]
    }

    static let keyID = JSONSchema.string(pattern: "^[A-Za-z0-9+/]{43}=$")
    /// SHA-256 in base64.
    static let digest = keyID
    static let null = JSONTree(["type": "null"])
    static let isTrue = JSONTree.object([JSONTree.Member(name: "const", value: .word("true"))])
    static let counter = JSONSchema.integer(0...Int64(UInt32.max))

    static func optional(_ name: String, _ schema: JSONTree) -> JSONSchema.Member {
        JSONSchema.Member(name, schema, isRequired: false)
    }

    static func open(_ members: [JSONSchema.Member]) -> JSONTree { JSONSchema.object(members, isClosed: false) }
}
