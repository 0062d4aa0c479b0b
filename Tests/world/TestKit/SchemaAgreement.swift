internal import Foundation
internal import JSON
internal import Settings
internal import Testing

/// Every configuration that a test reads is judged by its schema as well.
enum SchemaAgreement {
    /// What no schema can say, by the faults' words.
    private static let beyond = [
        "appears twice", "two topics have the same name", "is already active", "cannot read", "must be a duration",
        "must be an IP address", "six decimal places", "limits.clientDataHashBytes allows", "keep one of them",
        "must be a time", "has debugTokens and accepts production", "debug tokens; remove some",
        "exchange them", "and ignores receipts", "and no risk.above", "names no topic for receipts",
        "out of one of them", "must name where the key is", "names its project by its ID", "twice; keep one",
        "only static members",
    ]

    /// - Parameter fault: of the directory's configuration; nil where it loads.
    static func check(_ directory: String, _ fault: ConfigurationFault?) {
        for (file, schema) in Configuration.schemas.dropLast() {
            guard let data = FileManager.default.contents(atPath: "\(directory)/\(file)"),
                let root = try? JSONDocument(parsing: Array(data), maxNodes: data.count + 1).root
            else { return }
            let violation = SchemaCheck().violation(of: root, by: schema)
            if let fault, fault.message.hasPrefix("\(file): ") {
                let isSayable = !beyond.contains { fault.message.contains($0) }
                #expect(violation != nil || !isSayable, "the schema accepts what is refused: \(fault.message)")
                return
            }
            #expect(violation == nil, "the schema refuses what is read: \(file)\(violation ?? "")")
        }
    }
}
