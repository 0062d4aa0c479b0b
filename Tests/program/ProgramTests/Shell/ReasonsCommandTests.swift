internal import Testing

@testable internal import Reports

@Suite("reasons")
struct ReasonsCommandTests {
    @Test func `without an argument every reason is in the table`() {
        let (code, transcript) = Transcript.run(["reasons"])
        #expect(code == 0)
        let first = transcript.output.split(separator: "\n").compactMap { $0.split(separator: " ").first }
        for entry in ReasonEntry.all { #expect(first.contains { $0 == entry.code }, "\(entry.code)") }
        #expect(transcript.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }

    @Test(arguments: ReasonEntry.all.map(\.code))
    func `with a reason its whole text is printed, without Markdown, in 100 columns`(code: String) throws {
        let entry = try #require(ReasonEntry.find(code))
        let (exit, transcript) = Transcript.run(["reasons", code])
        #expect(exit == 0)
        let words = transcript.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.hasPrefix("\(code) verdict \(entry.verdict) status"))
        #expect(words.contains(ReasonText.plain(entry.text.meaning)))
        #expect(words.hasSuffix(ReasonText.plain(entry.text.action)))
        for party in entry.text.parties { #expect(words.contains("\(party.rawValue): \(party.meaning)")) }
        #expect(!transcript.output.contains("`") && !transcript.output.contains("]("))
        #expect(transcript.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
    }
}
