/// The landing ends as its tree says, on a slow machine too: its tests wait for progress, by the helpers of `TestKit`.
/// What depends on a machine's time is `.ci/soak`'s.
extension Rules {
    /// The folders that only the soak builds: there a clock, a sleep or a time limit may be named.
    static let soakFolders = ["Tests/brokers/ChaosKit", "Tests/brokers/EndToEndTests"]

    /// Files that may name them, and why. The list only shrinks.
    static let clockDoors = [
        // The helpers themselves: they look at a clock, so that no test does.
        "Tests/world/TestKit/Eventually.swift",
        // Holds the program's clock beside the helpers'.
        "Tests/settings/SettingsTests/WholeFileTests.swift",
    ]

    static let clockNames = [
        "ContinuousClock", "SuspendingClock", "WallClock", "Date()", "Date.now", "timeIntervalSinceNow",
        "DispatchTime.now", "DispatchWallTime.now", "clock_gettime", "gettimeofday", "timespec_get", "time(nil)",
        "systemUptime", "usleep", "nanosleep", "Task.sleep", "Thread.sleep", "sleep(", "asyncAfter", "timeLimit",
    ]

    static func clocks(_ file: SourceFile) -> [Breach] {
        clockDoors.contains(file.path) ? [] : clocksBeyondDoors(file)
    }

    static func clocksBeyondDoors(_ file: SourceFile) -> [Breach] {
        guard file.isSwift, file.isUnder(["Tests/"]), !soakFolders.contains(file.folder) else { return [] }
        return file.code.enumerated().compactMap { index, line in
            let found = clockNames.first { names($0, in: line) } ?? (readsNow(line) ? ".now" : nil)
            return found.map { Breach(path: file.path, line: index + 1, text: "waits for a time: \($0)") }
        }
    }

    /// Tests that start themselves as another process and stay in the pool: one of them takes a core while it waits there,
    /// and the whole landing is half as fast.
    static func processesInPool(_ file: SourceFile) -> [Breach] {
        guard file.isSwift, file.isUnder(["Tests/"]) else { return [] }
        var (suite, test) = ("", "")
        return file.code.enumerated().compactMap { index, line in
            if line.contains("@Suite") { suite = line }
            if line.contains("@Test") { test = line }
            guard line.contains("processExitsWith:"), !suite.contains(".waiting"), !test.contains(".startsItself")
            else {
                return nil
            }
            return Breach(path: file.path, line: index + 1, text: "waits for a process in the pool: .startsItself")
        }
    }

    /// Whether a line has the name, and not as a part of a longer one.
    private static func names(_ name: String, in line: String) -> Bool {
        guard line.utf8.count >= name.utf8.count else { return false }
        return line.ranges(of: name).contains { range in
            guard !continuesName(line[..<range.lowerBound].last) else { return false }
            return !continuesName(name.last) || !continuesName(line[range.upperBound...].first)
        }
    }

    private static func continuesName(_ character: Character?) -> Bool {
        character.map { $0.isLetter || $0.isNumber || $0 == "_" } ?? false
    }

    /// A moment whose type is left out: `at: .now`, `deadline: .now() + …`; no member (`broker.now`), no call of more.
    private static func readsNow(_ line: String) -> Bool {
        line.ranges(of: ".now").contains { range in
            let (before, after) = (line[..<range.lowerBound].last, line[range.upperBound...])
            guard !continuesName(before), !")]?!".contains(before ?? " ") else { return false }
            return after.hasPrefix("()") || !(continuesName(after.first) || after.first == "(")
        }
    }
}
