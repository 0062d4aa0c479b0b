internal import Glibc

/// A file of code that may see keys, in this process or one that it starts: only root and this process's own user can
/// change it, or the way to it.
package enum CodeFile {
    private static let mostLinks = 40

    /// Opens the file that was judged: what is loaded by the descriptor is that one, whatever the path names then.
    ///
    /// Links are resolved, as Debian's libraries have them: each folder on the way is judged, those that hold a link too.
    ///
    /// - Parameter trusted: a folder that is not judged, nor what is above it; nil = all are.
    package static func open(_ path: String, below trusted: String? = nil) throws(CodeFault) -> Int32 {
        guard path.hasPrefix("/") else { throw .notAbsolute }
        let (real, fault) = try resolve(path, below: trusted)
        // The path is copied for the call. Neither a link nor a FIFO without a writer holds it up.
        let file = unsafe Glibc.open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw .missing }
        do throws(CodeFault) {
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
    ) throws(CodeFault) -> (path: String, fault: CodeFault?) {
        var (place, fault, links) = ("", nil as CodeFault?, 0)
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
            if !isTrusted { do throws(CodeFault) { try judge(status, here) } catch { fault = fault ?? error } }
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

    private static func judge(_ status: stat, _ folder: String?) throws(CodeFault) {
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            throw .foreign(folder: folder, owner: status.st_uid)
        }
        let mode = UInt32(status.st_mode) & 0o777
        // No group may write, not even root's: the bits of a file with an access list show the list's mask.
        guard mode & 0o022 == 0 else { throw folder.map { .writableFolder($0, mode: mode) } ?? .writable(mode: mode) }
    }
}

/// Why a file of code is not used: the end of a sentence about it.
package enum CodeFault: Error, Equatable, Sendable, CustomStringConvertible {
    case notAbsolute
    case missing
    case notRegular
    /// Group or others may replace code that sees keys.
    case writable(mode: UInt32)
    /// They may put another file in its place.
    case writableFolder(String, mode: UInt32)
    /// Someone else owns the file, or a folder above it.
    case foreign(folder: String?, owner: UInt32)

    package var description: String {
        switch self {
        case .notAbsolute: "is not an absolute path"
        case .missing: "does not exist"
        case .notRegular: "is not a regular file"
        case .writable(let mode):
            "can be written by others than its owner (mode \(String(mode, radix: 8))); change it: chmod go-w"
        case .writableFolder(let folder, let mode):
            "lies in \(folder), which others than its owner can write (mode \(String(mode, radix: 8))); install it in a "
                + "folder that root alone can write, such as /usr/lib, or change this one: chmod go-w \(folder)"
        case .foreign(let folder, let owner):
            "\(folder.map { "lies in \($0), which " } ?? "")belongs to user \(owner), not to root or this process's user; "
                + "install it as root in a folder of root's, such as /usr/lib"
        }
    }
}
