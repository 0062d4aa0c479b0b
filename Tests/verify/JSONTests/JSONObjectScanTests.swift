import JSON
import Testing

@Suite("The end of an object over several lines")
struct JSONObjectScanTests {
    /// - Returns: the index behind the object in the text, or why there is none.
    private static func scan(_ text: String) -> JSONObjectScan.Outcome {
        var scan = JSONObjectScan()
        let bytes = Array(text.utf8)
        var start = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            let outcome = scan.scan(bytes.span, start..<(start + line.count))
            guard outcome == .open else { return outcome }
            start += line.count + 1
        }
        return .open
    }

    @Test(
        arguments: [
            "{}", "{\n}", "{\n  \"a\": 1,\n  \"b\": [\n    {},\n    []\n  ]\n}", #"{"}": "{", "\\": "\"}"}"#,
            "{\"a\":\n{\"b\":\r\n[1,{\"c\":\"]\"}]}\t}",
        ]
    )
    func `it is found behind the closing bracket, whatever strings hold`(text: String) {
        #expect(Self.scan(text) == .closed(text.utf8.count))
        #expect(Self.scan(text + ",{}") == .closed(text.utf8.count))
    }

    @Test(arguments: ["{", "{\n\"a\":", "{\"a\": [\n1,", "{\"a\": {\n}"])
    func `an object without its end is open`(text: String) { #expect(Self.scan(text) == .open) }

    @Test(
        arguments: [
            "{\n{", "{\"a\": 1,\n{\"b\":2}}", "{]", "{\"a\": [}", "}",
            "{\"a\": [1 {", "{\"a\" {", String(repeating: "{\"a\":", count: 65),
            "{\"a\":" + String(repeating: "[", count: 64),
        ]
    )
    func `what cannot go on as JSON is broken`(text: String) { #expect(Self.scan(text) == .broken) }

    @Test(arguments: ["{\"a\": \"b\n\"}", "{\"a\": \"b\\\n\"}", "{\n\"a", "{\"a\":[\""])
    func `a string that its line does not end is cut off`(text: String) { #expect(Self.scan(text) == .cut) }

    @Test func `depth is limited, not the length`() {
        let deep = String(repeating: "{\"a\":", count: 63) + "{" + String(repeating: "}", count: 64)
        #expect(Self.scan(deep) == .closed(deep.utf8.count))
        let long = "{\"a\": [" + String(repeating: "[],\n", count: 100_000) + "1]}"
        #expect(Self.scan(long) == .closed(long.utf8.count))
    }
}
