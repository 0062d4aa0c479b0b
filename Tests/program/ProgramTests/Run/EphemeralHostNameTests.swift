internal import Testing

@testable internal import Run

@Suite("Host names that pass with their container")
struct EphemeralHostNameTests {
    @Test(
        arguments: [
            ("3f2a9c01b7de", true, false, true), ("3f2a9c01b7de", false, false, false),
            ("3f2a9c01b7dg", true, false, false), ("3f2a9c01b7d", true, false, false),
            ("worker-1", true, false, false), ("attest-worker-0", true, true, false),
            ("attest-worker-12", false, true, false), ("attest-worker-5d9f7c6b8-x2x4q", true, true, true),
            ("attest-worker-5d9f7c6b8-24785", true, true, true), ("worker", true, true, true), ("0", false, true, true),
            ("attest-", false, true, true),
        ]
    )
    func `engines' names and those of pods without an ordinal are warned of`(
        host: String,
        isContainer: Bool,
        isPod: Bool,
        isWarned: Bool
    ) {
        let warning = EphemeralHostName.warning(host: host, isContainer: isContainer, isPod: isPod)
        #expect((warning != nil) == isWarned)
        if let warning { #expect(warning.contains(host) && warning.contains("membership: dynamic")) }
    }
}
