internal import Foundation
internal import Testing

/// Links are those of files, which a Git host can follow; `.ci/site` makes DocC's of them.
@Suite("Links of the pages lead somewhere")
struct LinkTests {
    /// Links of a text that lies in a folder of the package and lead to no file or heading.
    private static func dead(_ page: Page, in folder: String) -> [String] {
        page.links.compactMap { link in
            let (file, anchor) = (link.prefix { $0 != "#" }, link.drop { $0 != "#" }.dropFirst())
            let path = file.isEmpty ? "\(folder)\(page.name).md" : folder + file
            let place = SourceTree.root.appending(path: path).path
            guard FileManager.default.fileExists(atPath: place) else { return link }
            if anchor.isEmpty { return nil }
            let target = SourceTree.text(path).map { Page(page.name, text: $0) }
            return target?.anchors.contains(String(anchor)) == true ? nil : link
        }
    }

    @Test(arguments: Page.names)
    func `each link of a page leads to a file beside it, and its anchor to a heading`(name: String) throws {
        let page = try #require(Page(name))
        #expect(Self.dead(page, in: Page.folder) == [])
        let docc = page.prose.filter { $0.contains("<doc:") || $0.hasPrefix("@") }
        #expect(docc == [], "only DocC understands these")
    }

    @Test func `the README is short, leads to each page, and to nothing else that is missing`() throws {
        let readme = Page("README", text: try #require(SourceTree.text("README.md")))
        #expect(readme.lines.count <= 121)
        #expect(Self.dead(readme, in: "") == [])
        for name in Page.names.dropFirst() { #expect(readme.links.contains(Page.folder + name + ".md"), "\(name)") }
    }

    @Test func `a link without a file or heading is found, one in code is not read`() {
        let text = """
            # A page
            ## Keys, and `two` more: all
            [here](#keys-and-two-more-all) [gone](#keys) `[code](#x)` [web](https://example.com/#x)
            ```
            ## Code
            [code](#y)
            ```
            [file](Keys.md#rotation) [file](Keys.md#none) [file](None.md)
            """
        let page = Page("Start", text: text)
        #expect(page.anchors == ["a-page", "keys-and-two-more-all"])
        #expect(page.links.count == 5)
        let files = Page("Start", text: String(text.split(separator: "\n").last ?? ""))
        #expect(Self.dead(files, in: Page.folder) == ["Keys.md#none", "None.md"])
    }
}
