internal import Glibc

/// A file of code that may run in the process of the signing keys: only root and this process's own user can change it,
/// or the way to it.
enum CodeFile {
    private static let mostLinks = 40

    /// Opens the file that was judged: what is loaded by the descriptor is that one, whatever the path names then.
    ///
    /// Links are resolved, as Debian's libraries have them: each folder on the way is judged, those that hold a link too.
    ///
    /// - Parameter trusted: a folder that is not judged, nor what is above it; nil = all are.
    static func open(_ path: String, below trusted: String?) throws(MultiBufferFault) -> Int32 {
        guard path.hasPrefix("/") else { throw .notAbsolute }
        let (real, fault) = try resolve(path, below: trusted)
        // The path is copied for the call. Neither a link nor a FIFO without a writer holds it up.
        let file = unsafe Glibc.open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw .missing }
        do throws(MultiBufferFault) {
            var status = stat()
            // The call fills the status in.
            guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw .notRegular }
            try judge(status, nil)
            if let fault { throw fault }
        } catch {
            close(file)
            throw error
        }
        return file
    }

    /// Resolves the path from the root down: once a folder is judged, nobody else can exchange what is in it.
    ///
    /// - Returns: the path without links, and the first fault of a folder's right, which the file's own go before.
    private static func resolve(
        _ path: String,
        below trusted: String?
    ) throws(MultiBufferFault) -> (path: String, fault: MultiBufferFault?) {
        var (place, fault, links) = ("", nil as MultiBufferFault?, 0)
        var names = Array(path.split(separator: "/").reversed())
        while true {
            var status = stat()
            let here = place.isEmpty ? "/" : place
            // The path is copied for the call, which fills the status in.
            guard unsafe lstat(here, &status) == 0 else { throw .missing }
            if status.st_mode & S_IFMT == S_IFLNK {
                links += 1
                guard links <= mostLinks, let target = target(of: here) else { throw .missing }
                names += target.split(separator: "/").reversed()
                place = target.hasPrefix("/") ? "" : parent(of: place)
                continue
            }
            guard let name = names.popLast() else { return (here, fault) }
            guard status.st_mode & S_IFMT == S_IFDIR else { throw .missing }
            let isTrusted = trusted.map { $0 == here || $0.hasPrefix(place + "/") } ?? false
            if !isTrusted { do throws(MultiBufferFault) { try judge(status, here) } catch { fault = fault ?? error } }
            switch name {
            case ".": break
            case "..": place = parent(of: place)
            default: place += "/" + name
            }
        }
    }

    private static func parent(of place: String) -> String {
        place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
    }

    private static func target(of link: String) -> String? {
        var letters = [CChar](repeating: 0, count: Int(PATH_MAX))
        // The call writes as many bytes as there are, at most.
        let count = unsafe readlink(link, &letters, letters.count)
        return count > 0 ? String(decoding: letters[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    private static func judge(_ status: stat, _ folder: String?) throws(MultiBufferFault) {
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw .foreign(folder: folder, owner: status.st_uid)
        }
        let mode = UInt32(status.st_mode) & 0o777
        // No group may write, not even root's: the bits of a file with an access list show the list's mask.
        guard mode & 0o022 == 0 else { throw folder.map { .writableFolder($0, mode: mode) } ?? .writable(mode: mode) }
    }
}
