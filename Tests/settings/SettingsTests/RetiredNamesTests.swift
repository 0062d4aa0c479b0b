import TestKit
import Testing

@testable import Settings

@Suite("Retired apps")
struct RetiredNamesTests {
    private static func apps(_ ids: [String], _ retired: String = "") -> String {
        let apps = ids.map { #"{"appId":"\#($0)","appleAppIds":["T.b"],"oauthClientIds":["c-\#($0)"]}"# }
        return #"{"projects":[{"number":"1","id":"one","apps":[\#(apps.joined(separator: ","))]}]\#(retired)}"#
    }

    @Test(
        arguments: [
            "[]": nil, #"["projects/1/apps/b","oauthClients/x","projects/2/apps/a"]"#: nil,
            #"["projects/1/apps/a"]"#: "projects/1/apps/a is listed under projects too; take it out of one of them.",
            #"["oauthClients/c-a"]"#: "oauthClients/c-a is listed under projects too; take it out of one of them.",
            #"["projects/one/apps/b"]"#: "projects/one/apps/b names its project by its ID; write its number 1.",
            #"["projects/1/apps/b","projects/1/apps/b"]"#: "has projects/1/apps/b twice; keep one.",
            #"["b"]"#: #"[0] must be projects/{number}/apps/{appId} or oauthClients/{client}, not "b"."#,
            #"["projects/1/apps/b","projects/1/apps/"]"#:
                #"[1] must be projects/{number}/apps/{appId} or oauthClients/{client}, not "projects/1/apps/"."#,
            #"[1]"#: "[0]: must be a string, not 1.", #""projects/1/apps/b""#: "must be a list of strings.",
        ] as [String: String?]
    )
    func `a list is read strictly`(retired: String, problem: String?) throws {
        let directory = try ConfigurationDirectory(apps: Self.apps(["a"], #","retired":\#(retired)"#))
        #expect(directory.fault() == problem.map { "apps.json: retired\($0.hasPrefix("[0]: ") ? "" : ": ")\($0)" })
    }

    private static let end =
        "served and no longer listed, and devices that are told 404 stay silent for 24 hours: list"

    @Test(
        arguments: [
            (["a", "b"], "", nil), (["a", "b", "c"], "", nil),
            (["a"], "", "apps.json: projects/1/apps/b is \(end) it again, or under retired."),
            (["a"], #","retired":["projects/1/apps/b"]"#, nil),
            (
                ["a"], #","retired":["projects/1/apps/c"]"#,
                "apps.json: projects/1/apps/b is \(end) it again, or under retired."
            ),
            ([], "", "apps.json: projects/1/apps/a, projects/1/apps/b are \(end) them again, or under retired."),
            ([], #","retired":["projects/1/apps/a","projects/1/apps/b"]"#, nil),
        ] as [([String], String, String?)]
    )
    func `a reload of worker and gateway drops no app that is not retired`(
        ids: [String],
        retired: String,
        fault: String?
    ) throws {
        let directory = try KeyDirectory.complete()
        try directory.files.write("apps.json", Self.apps(["a", "b"]))
        let (worker, gateway) = (try directory.load(), try LoadedGateway.load(directory: directory.path))
        try directory.files.write("apps.json", ids.isEmpty ? #"{"projects":[]\#(retired)}"# : Self.apps(ids, retired))
        func message(_ body: () throws(ConfigurationFault) -> Void) -> String? {
            do throws(ConfigurationFault) { try body() } catch { return error.message }
            return nil
        }
        let files = ConfigurationFiles(directory: directory.path)
        #expect(message { () throws(ConfigurationFault) in _ = try Reload(files, after: worker) } == fault)
        #expect(
            message { () throws(ConfigurationFault) in
                _ = try LoadedGateway.load(directory: directory.path, after: gateway)
            } == fault
        )
    }
}
