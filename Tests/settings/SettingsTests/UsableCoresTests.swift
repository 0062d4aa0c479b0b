import Settings
import Testing

/// The number of lanes that a process gets by itself.
struct UsableCoresTests {
    @Test(arguments: [
        ("", [:], 8), ("0::/\n", ["/cpu.max": "max 100000\n"], 8), ("0::/\n", ["/cpu.max": "200000 100000\n"], 2),
        ("0::/\n", ["/cpu.max": "250000 100000\n"], 3), ("0::/\n", ["/cpu.max": "50000 100000\n"], 1),
        ("0::/\n", ["/cpu.max": "6400000 100000\n"], 8), ("0::/\n", ["/cpu.max": "what\n"], 8),
        // The group around this one has less.
        ("0::/pods/one\n", ["/pods/cpu.max": "300000 100000\n", "/pods/one/cpu.max": "400000 100000\n"], 3),
        (
            "3:cpu,cpuacct:/one\n1:name=systemd:/\n",
            ["/cpu,cpuacct/one/cpu.cfs_quota_us": "150000\n", "/cpu,cpuacct/one/cpu.cfs_period_us": "100000\n"], 2
        ),
        ("3:cpu:/\n", ["/cpu/cpu.cfs_quota_us": "-1\n", "/cpu/cpu.cfs_period_us": "100000\n"], 8),
    ])
    func `the least quota of the control groups counts, and the affinity is the most`(
        groups: String,
        files: [String: String],
        expected: Int
    ) {
        #expect(UsableCores.count(affinity: 8, groups: groups) { files[$0] } == expected)
    }

    @Test(arguments: [
        ("Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\n", 8, 2),
        ("Cpus_allowed:\tffffffff,ffffffff\n", 8, 8), ("Cpus_allowed:\t00000001,00000000\n", 64, 1),
        ("Cpus_allowed:\t0\n", 8, 8), ("Name:\tx\n", 4, 4), ("", 0, 1),
    ])
    func `the affinity is the mask's processors, as far as they are online`(status: String, online: Int, count: Int) {
        #expect(UsableCores.affinity(status, online: online) == count)
    }

    @Test(
        arguments: [
            ("", [:], nil), ("0::/one\n", ["/one/memory.max": "max\n"], nil),
            ("0::/one\n", ["/one/memory.max": "536870912\n", "/memory.max": "max\n"], 536_870_912),
            ("0::/one\n", ["/one/memory.max": "536870912\n", "/memory.max": "1000\n"], 1_000),
            ("4:memory:/one\n", ["/memory/one/memory.limit_in_bytes": "9223372036854771712\n"], nil),
            ("4:memory:/one\n3:cpu:/\n", ["/memory/one/memory.limit_in_bytes": "4096\n"], 4_096),
        ] as [(String, [String: String], Int64?)]
    )
    func `the least memory limit of the control groups counts`(
        groups: String,
        files: [String: String],
        expected: Int64?
    ) {
        #expect(MemoryLimit.bytes(groups: groups) { files[$0] } == expected)
    }

    @Test func `this process may use at least one`() { #expect(UsableCores.count >= 1) }
}
