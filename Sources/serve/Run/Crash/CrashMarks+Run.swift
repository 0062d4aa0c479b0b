internal import Crypto
internal import Glibc
internal import Pipeline
internal import Settings
internal import Streams

extension CrashMarks {
    /// The marks of a worker, installed; nil where that fails, which is logged and does not stop the worker.
    static func begin(
        directory: String,
        stableID: String,
        topic: String,
        works: [WorkSlot],
        tell: (String) -> Void
    ) -> CrashMarks? {
        #if DEBUG
            CrashSabotage.plant(in: works, Variables.values("ATTEST_WORKER_CRASH"))
        #endif
        let identity = SHA256.hash(Array("\(stableID)\u{0}\(topic)".utf8)).bytes.prefix(8)
            .map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        do {
            let marks = try CrashMarks(
                in: StateFolder(configuration: directory, identity: identity),
                slots: works.count
            )
            guard marks.install(works) else {
                tell("crashes cannot be recorded: too many lanes")
                return nil
            }
            for line in marks.reports { tell(line) }
            return marks
        } catch {
            tell("\(error)")
            return nil
        }
    }
}

#if DEBUG
    /// `ATTEST_WORKER_CRASH=STAGE/PARTITION/OFFSET/SIGNAL`: a record that crashes the process, for tests. Not in release
    /// builds.
    enum CrashSabotage {
        static func plant(in works: [WorkSlot], _ environment: [String: String]) {
            let words = environment["ATTEST_WORKER_CRASH"]?.split(separator: "/").map(String.init) ?? []
            guard words.count == 4, let partition = Int32(words[1]), let offset = Int64(words[2]),
                let signal = Int32(words[3])
            else { return }
            let (stage, place) = (words[0], RecordPlace(partition: partition, offset: offset))
            for work in works {
                work.sabotage = { now, items in
                    if "\(now)" == stage, items.contains(where: { $0.place == place }) { crash(signal) }
                }
            }
        }

        /// Crashes as code does, not as `kill` does.
        static func crash(_ signal: Int32) {
            switch signal {
            case SIGABRT: abort()
            // No page is mapped there.
            case SIGSEGV: unsafe UnsafeMutablePointer<Int>(bitPattern: 8)?.pointee = 1
            case SIGILL: preconditionFailure("a crash that was asked for")
            case 0: _ = overflow(1)
            default: raise(signal)
            }
        }

        /// Recurses until the stack is used up.
        private static func overflow(_ depth: Int) -> Int {
            depth > 0 ? overflow(depth &+ 1) &+ overflow(depth &+ 2) : 0
        }
    }
#endif
