import BrokerKit
import ChaosKit
import Foundation
import JSON
import Settings
import Streams
import TestKit
import Testing

/// The live look at a running worker: bans with an end, results that are waited for, `bans`, `tail`, `top`.
extension LedgerProgramTests {
    @Test func `commands wait for their results, bans end, bans lists them, and the log tells of each act`() throws {
        let workplace = try ProgramWorkplace("awaited") { $0.membership = "dynamic" }
        let all = try workplace.simulated(devices: 3, records: 30)
        let key = try #require(all.first?.key)
        let keyID = String(decoding: key, as: UTF8.self)
        let worker = try workplace.start("run", "--instance", "one")
        let tail = try workplace.start("tail", "--from-beginning")
        var outcomes = 0
        func send(_ part: Range<Int>) throws {
            try workplace.put(all[part])
            outcomes += part.count
            #expect(try workplace.hasOutcomes(outcomes, of: [worker]), "\(worker.error)")
        }
        try send(0..<15)
        #expect(try workplace.done("bans").output == "no key and no installation is banned\n")
        // Some seconds ahead: the broker's time of later requests passes it.
        let end = Int64(Date.now.timeIntervalSince1970 * 1000) + 4_000
        let said = try workplace.done("ban", "--key-id", keyID, "--until", String(end), "--wait").output
        outcomes += 1
        #expect(said.hasSuffix(": accepted\n"), "\(said)")
        let lines = try workplace.done("bans").output.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].hasPrefix("key \(keyID)"), "\(lines)")
        #expect(lines[1].contains(TimeText.rfc3339(end)) && lines[1].contains(workplace.requests + "/"), "\(lines)")
        try send(15..<20)
        let installation = try workplace.done("ban", "--installation", "fid-1", "--wait").output
        outcomes += 3
        #expect(installation.components(separatedBy: ": accepted\n").count == 4, "\(installation)")
        #expect(try workplace.done("bans", "--installation", "fid-1").output.contains("the installation"))
        let stranger = try workplace.refused("bans", "--installation", "fid-2").output
        #expect(stranger == "the installation is not banned\n")
        // A fresh request after the end, whose time removes the ban.
        #expect(Deadline.wait(30) { Int64(Date.now.timeIntervalSince1970 * 1000) > end + 1_000 })
        try send(20..<30)
        #expect(try workplace.refused("bans", "--key-id", keyID).output == "key \(keyID) is not banned\n")
        try refusedWithAnotherKey(workplace, keyID)
        for command in [["ban"], ["unban"], ["ban"], ["forget", "--keep-ban"]] {
            let said = try workplace.done(command[0], ["--key-id", keyID, "--wait"] + command.dropFirst()).output
            #expect(said.hasSuffix(": accepted\n"), "\(said)")
        }
        #expect(try !workplace.exported().contains(keyID) && workplace.done("bans").output.contains(keyID))
        outcomes += 5
        #expect(try workplace.hasOutcomes(outcomes, of: [worker]))
        #expect(Deadline.wait(30) { tail.output.split(separator: "\n").count >= outcomes }, "\(tail.output)")
        tail.signal(SIGINT)
        #expect(tail.waitForEnd() == .exit(0) && tail.error.isEmpty, "\(tail.error)")
        let results = tail.output.split(separator: "\n")
        #expect(results.count == outcomes && results.contains { $0.contains("refused banned") })
        worker.expectEnd()
        let acts = worker.error.split(separator: "\n").filter { $0.contains(" audit: ") }
        #expect(acts.count == 8 && acts.count { $0.contains("ban of installation ") } == 3, "\(worker.error)")
        #expect(acts.first?.contains("ban of key \(keyID) until \(TimeText.rfc3339(end))") == true)
    }

    /// An operator whose sealing key is another one than the workers'.
    private func refusedWithAnotherKey(_ workplace: ProgramWorkplace, _ keyID: String) throws {
        let other = try workplace.copyConfig(as: "other")
        let settings = try workplace.json("other/worker.json")
        let file = try #require(settings["sealingKeys"]?.elements.first?["file"]?.string)
        try workplace.write(Base64.encode([UInt8](repeating: 7, count: 32)), to: "other/\(file)")
        let refused = try ProgramProcess(
            ["unban", "--config", other, "--key-id", keyID, "--wait"],
            in: workplace.folder
        )
        #expect(refused.waitForEnd() == .exit(1), "\(refused.error)")
        #expect(refused.output.contains(": refused unknown-method: "), "\(refused.output)")
    }

    @Test func `top shows a worker, and tail ends with its reader`() throws {
        let port = 21_964
        let workplace = try ProgramWorkplace("looked-at") { $0.members = #""metrics": {"port": \#(port)},"# }
        try workplace.simulate(devices: 3, records: 40, faults: 0.3)
        let worker = try workplace.start("run", "--instance", "one")
        #expect(try workplace.hasOutcomes(40, of: [worker]), "\(worker.error)")
        let seen = try workplace.done("top", "--once").output
        #expect(seen.contains("1 of 1 instance answering") && seen.contains("running"), "\(seen)")
        #expect(seen.contains("verifyAssertion") && seen.contains("accepted") && seen.contains("refused"), "\(seen)")
        let filtered = try workplace.start("tail", "--from-beginning", "--refused")
        #expect(Deadline.wait(30) { filtered.output.contains("refused ") }, "\(filtered.error)")
        filtered.signal(SIGTERM)
        #expect(filtered.waitForEnd() == .exit(0) && !filtered.output.contains("accepted"))
        worker.expectEnd()
        #expect(try workplace.refused("top", "--once").output.contains("does not answer"))
    }
}
