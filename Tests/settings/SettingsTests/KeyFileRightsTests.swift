internal import Foundation
internal import TestKit
internal import Testing

@testable internal import Settings

@Suite("Rights of key files")
struct KeyFileRightsTests {
    private static let process = KeyFileRights.Process(user: 1000, groups: [1000, 2000])

    @Test(
        arguments: [
            (0o600, 1000, 9, nil), (0o400, 5, 9, nil), (0o700, 1000, 9, nil), (0o640, 1000, 1000, nil),
            (0o440, 0, 2000, nil), (0o440, 0, 0, nil), (0o460, 0, 0, "more than read access"),
            (0o040, 0, 2000, nil), (0o640, 1000, 3000, "this process is not in"),
            (0o640, 5, 2000, "belongs to user 5"), (0o440, 1000, 0, "this process is not in"),
            (0o660, 1000, 1000, "more than read access"),
            (0o650, 1000, 1000, "more than read access"), (0o740, 1000, 1000, "more than read access"),
            (0o2640, 1000, 1000, "more than read access"), (0o620, 1000, 1000, "more than read access"),
            (0o604, 1000, 1000, "open to others"), (0o601, 0, 0, "open to others"),
            (0o644, 0, 2000, "open to others"), (0o602, 1000, 1000, "open to others"),
        ] as [(mode_t, uid_t, gid_t, String?)]
    )
    func `a file may be readable by the process's group if root or the process owns it, and by no others`(
        mode: mode_t,
        owner: uid_t,
        group: gid_t,
        problem: String?
    ) {
        let said = KeyFileRights(mode: mode, owner: owner, group: group).problem(for: Self.process, "k.pem")
        #expect((said == nil) == (problem == nil), "\(said ?? "")")
        if let problem { #expect(said?.contains(problem) == true && said?.contains("chmod 6") == true) }
    }

    @Test func `the system reports the process's own user and groups`() {
        #expect(KeyFileRights.Process.current.user == geteuid())
        #expect(KeyFileRights.Process.current.groups.contains(getegid()))
    }

    @Test func `a file that the process's own group may read is accepted, one of another group is not`() throws {
        let directory = try KeyDirectory(#""sealingKeys":[{"id":"s1","file":"s.key"}]"#)
        try directory.write("s.key", KeyText.secret(1), mode: 0o640)
        #expect(directory.fault() == nil)
        // Only root may give a file to a group that it is not in.
        guard geteuid() == 0 else { return }
        let path = "\(directory.path)/s.key"
        #expect(unsafe chown(path, 0, 54_321) == 0)
        #expect(directory.fault()?.contains("group 54321, which this process is not in") == true)
        #expect(unsafe chown(path, 54_321, 0) == 0)
        #expect(directory.fault()?.contains("belongs to user 54321") == true)
    }
}
