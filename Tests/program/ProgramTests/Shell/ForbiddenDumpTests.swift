import CProcess
import Foundation
import TestKit
import Testing

@testable import CommandFrame
@testable import Commands

@Suite("Memory of the program")
struct ForbiddenDumpTests {
    @Test(.startsItself) func `every command keeps its memory from cores and from processes of its user`() async {
        await #expect(processExitsWith: .exitCode(7)) {
            guard process_forbids_dumps() == 0 else { exit(8) }
            _ = AttestWorker.main(["--version"])
            exit(process_forbids_dumps() == 1 ? 7 : 9)
        }
    }
}
