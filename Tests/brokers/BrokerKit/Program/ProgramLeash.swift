internal import Foundation

/// A shell that outlives this process by a moment: however a run ends, the programs that it started end with it.
final class ProgramLeash: Sendable {
    static let shared = ProgramLeash()

    private let words = Pipe()

    private init() {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", Self.script, "sh", WorkerBinary.url?.resolvingSymlinksInPath().path() ?? ""]
        shell.standardInput = words
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        // Optional: without it an interrupted run would leave processes behind.
        try? shell.run()
    }

    func hold(_ process: pid_t) throws {
        try words.fileHandleForWriting.write(contentsOf: Data("process \(process)\n".utf8))
    }

    /// The folder is deleted too.
    func hold(folder: String) throws {
        try words.fileHandleForWriting.write(contentsOf: Data("folder \(folder)\n".utf8))
    }

    /// A number that another program has by now is left alone.
    private static let script = """
        trap : INT HUP TERM
        held=; folders=
        while read -r kind what; do
          case $kind in
            process) held="$held $what" ;;
            folder) folders="$folders$what
        " ;;
          esac
        done
        for number in $held; do
          if [ "$(readlink "/proc/$number/exe")" = "$1" ]; then kill -KILL "$number"; fi
        done
        printf '%s' "$folders" | while read -r folder; do rm -rf "$folder"; done
        """
}
