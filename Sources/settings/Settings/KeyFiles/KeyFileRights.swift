internal import Glibc

struct KeyFileRights: Equatable {
    /// The permission bits, those above the nine included.
    var mode: mode_t
    var owner: uid_t
    var group: gid_t

    /// The user and the groups that a process acts as.
    struct Process: Equatable {
        var user: uid_t
        var groups: Set<gid_t>

        static var current: Process {
            var groups = [gid_t](repeating: 0, count: 65_536)
            // The call fills in at most as many as fit; no more exist.
            let count = unsafe getgroups(Int32(groups.count), &groups)
            return Process(user: geteuid(), groups: Set(groups.prefix(Int(max(0, count)))).union([getegid()]))
        }
    }

    private static let others: mode_t = 0o007
    private static let group: mode_t = 0o070
    private static let most: mode_t = 0o640

    /// The fault of the rights: others may do nothing; the group may read if root or the process owns the file and the
    /// process is in the group, as secrets are mounted into containers. Root's own group has no users: systemd's
    /// credentials have it, and an access list that shows as the group's right. nil = none.
    func problem(for process: Process, _ path: String) -> String? {
        let octal = String(mode & 0o777, radix: 8)
        guard mode & Self.others == 0 else {
            return "is open to others (mode \(octal)); change it: chmod 600 \(path)"
        }
        guard mode & Self.group != 0 else { return nil }
        guard mode & ~Self.most == 0 else {
            return "gives its group more than read access (mode \(octal)); change it: chmod 640 \(path)"
        }
        guard owner == 0 || owner == process.user else {
            return "is readable by a group but belongs to user \(owner), not to root or this process's user; "
                + "change it: chmod 600 \(path)"
        }
        guard process.groups.contains(group) || (owner == 0 && group == 0) else {
            return "is readable by group \(group), which this process is not in; change it: chmod 600 \(path)"
        }
        return nil
    }
}
