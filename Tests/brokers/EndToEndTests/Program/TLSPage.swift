import Foundation
import TestKit

/// The TLS page's examples of kafka.properties.
enum TLSPage {
    /// The lines of the example that begins with this comment, as the page has them.
    static func properties(_ name: String) throws -> [String] {
        let page = PackageFolder.url.appending(path: "Sources/program/attest-worker/Documentation.docc/TLS.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = "```properties\n# \(name)"
        guard let begin = text.firstRange(of: start)?.upperBound,
            let end = text[begin...].firstRange(of: "\n```")?.lowerBound
        else { throw CocoaError(.fileReadCorruptFile) }
        // The first is the rest of the comment, which may be empty.
        return text[begin..<end].split(separator: "\n", omittingEmptySubsequences: false).dropFirst().map(String.init)
    }
}
