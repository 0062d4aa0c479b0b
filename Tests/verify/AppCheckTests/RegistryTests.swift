import AppAttest
import AppCheck
import Testing

private func app(_ number: String, _ id: String?, _ appID: String, _ clients: [String] = []) -> RegisteredApp {
    RegisteredApp(
        projectNumber: number,
        projectID: id,
        appID: appID,
        oauthClientIDs: clients,
        expectations: Expectations(appIDs: [])
    )
}

@Suite struct RegistryTests {
    @Test func `apps are found by number, id, client and ledger name, and by nothing else`() throws {
        let registry = try Registry(apps: [
            app("1", "one", "a", ["c1", "c2"]), app("1", "one", "b"), app("2", nil, "a", ["c3"]),
        ])
        #expect(registry.find(project: "1", app: "a") == 0)
        #expect(registry.find(project: "one", app: "b") == 1)
        #expect(registry.find(project: "2", app: "a") == 2)
        #expect(registry.find(project: "two", app: "a") == nil)
        #expect(registry.find(project: "2", app: "b") == nil)
        #expect(registry.find(oauthClient: "c2") == 0)
        #expect(registry.find(oauthClient: "c3") == 2)
        #expect(registry.find(oauthClient: "a") == nil)
        #expect(registry.find(name: "projects/1/apps/b") == 1)
        #expect(registry.find(name: "projects/one/apps/b") == nil)
        #expect(registry.projectNumber(of: "one") == "1" && registry.projectNumber(of: "1") == "1")
        #expect(registry.projectNumber(of: "2") == "2" && registry.projectNumber(of: "a") == nil)
    }

    @Test(
        arguments: [
            ([app("1", nil, "a"), app("1", nil, "a")], "app a appears twice in project 1"),
            ([app("1", nil, "a", ["c"]), app("1", nil, "b", ["c"])], "OAuth client c appears twice"),
            ([app("1", nil, "a", ["c", "c"])], "OAuth client c appears twice"),
            ([app("1", "x", "a"), app("2", "x", "b")], "project x refers to two project numbers"),
            ([app("1", nil, "a"), app("2", "1", "b")], "project 1 refers to two project numbers"),
        ]
    )
    func `an ambiguous name is refused`(_ apps: [RegisteredApp], _ message: String) {
        #expect(throws: RegistryFault(message: message)) { _ = try Registry(apps: apps) }
    }

    @Test func `a project's id may equal its number, and ids may hold any characters`() throws {
        let registry = try Registry(apps: [app("7", "7", "a"), app("8", nil, "x/apps/y"), app("8/apps/x", nil, "y2")])
        #expect(registry.find(project: "7", app: "a") == 0)
        #expect(try Registry(apps: []).apps.isEmpty)
    }

    @Test func `a name equal only by Unicode equivalence is not found, and not registered beside it`() throws {
        let registry = try Registry(apps: [app("1", "caf\u{E9}", "\u{E9}", ["c\u{E9}"])])
        #expect(registry.find(project: "caf\u{E9}", app: "\u{E9}") == 0)
        #expect(registry.find(project: "caf\u{E9}", app: "e\u{301}") == nil)
        #expect(registry.find(project: "cafe\u{301}", app: "\u{E9}") == nil)
        #expect(registry.find(oauthClient: "c\u{E9}") == 0 && registry.find(oauthClient: "ce\u{301}") == nil)
        #expect(registry.projectNumber(of: "cafe\u{301}") == nil)
        #expect(throws: RegistryFault.self) {
            _ = try Registry(apps: [app("1", nil, "\u{E9}"), app("1", nil, "e\u{301}")])
        }
    }
}
