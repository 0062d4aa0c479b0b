/// Text from records stays bytes: Swift compares and hashes `String` by Unicode equivalence, which finds one
/// text under many spellings and costs milliseconds for texts that are made to be slow.
extension Rules {
    /// The modules that a record's bytes go through.
    private static let recordModules = [
        "Sources/verify/JSON/", "Sources/verify/CBOR/", "Sources/verify/AppAttest/", "Sources/verify/AppCheck/",
        "Sources/judge/",
    ]

    /// Files that may make a `String` of bytes, and why that does no harm.
    private static let textMakers = [
        // The only conversion of texts that are shown to people.
        "Sources/verify/AppAttest/Bytes/ExactText.swift", "Sources/verify/AppAttest/Inspection/",
        // Values in explanations, shown to people after the verdict.
        "Sources/verify/AppAttest/Evidence/ReportValue.swift", "Sources/judge/Pipeline/Explain/",
        // Accessors for configuration files, and output that is repaired.
        "Sources/verify/JSON/JSONNode.swift", "Sources/verify/JSON/UTF8Text.swift",
        // Claims and names that the worker itself has signed, sealed or written, verified before they are read.
        "Sources/verify/AppCheck/Token/TokenVerifier.swift", "Sources/verify/AppCheck/Artifact/Artifact.swift",
        "Sources/judge/Pipeline/Ledger/LedgerCodec+Decode.swift",
        // The same names, told apart by their bytes.
        "Sources/judge/Pipeline/Ledger/Interner.swift",
        // A group's name out of the ledger, to be shown.
        "Sources/judge/Pipeline/Positions/PartitionPositions.swift",
        // A topic's name, which is compared as bytes.
        "Sources/judge/Pipeline/Capture/CaptureLine.swift",
    ]

    private static let makers = [
        "String(decoding", "String(validating", "String(cString", "String(validatingCString", "String(bytes",
        "String(data",
        "String(copying", "String(unsafeUninitialized", "String(utf8String", "String(describing", "String(reflecting",
        "String(Substring", "Substring(decoding", "Character(",
    ]
    /// Properties that give a `String` of a record's bytes: a JSON node's, and an exact text's.
    private static let properties = [".string", ".numberText", ".shown"]

    static func textsOfRecords(_ file: SourceFile) -> [Breach] {
        guard file.isSwift, file.isUnder(recordModules), !file.isUnder(textMakers) else { return [] }
        return file.code.enumerated().compactMap { index, line in
            let found = makers.first { makes($0, in: line) } ?? properties.first { reads($0, in: line) }
            return found.map { Breach(path: file.path, line: index + 1, text: "makes a String of bytes: \($0)") }
        }
    }

    /// Whether a property is read: no call (`.string(…)`), no longer name (`.stringBytes`), no enum case.
    private static func reads(_ property: String, in line: String) -> Bool {
        line.ranges(of: property).contains { range in
            guard range.lowerBound > line.startIndex else { return false }
            let before = line[line.index(before: range.lowerBound)]
            let after = range.upperBound == line.endIndex ? " " : line[range.upperBound]
            guard before.isLetter || before.isNumber || "_)]?!\\".contains(before) else { return false }
            return !(after.isLetter || after.isNumber || after == "_" || after == "(" || after == ":")
                && !line[range.upperBound...].drop(while: { $0 == " " }).hasPrefix("= {")
        }
    }

    /// Not the end of a longer name.
    private static func makes(_ maker: String, in line: String) -> Bool {
        line.ranges(of: maker).contains { range in
            guard let before = line[..<range.lowerBound].last else { return true }
            return !before.isLetter && !before.isNumber && before != "_"
        }
    }
}
