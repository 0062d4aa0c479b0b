import ContractKit
import SimulationKit
import Testing

/// A suite that every model passes proves nothing.
@Suite("The contract notices a wrong model")
struct WrongModelTests {
    /// The script that notices each.
    private static let noticedBy: [WrongModel: String] = [
        .startResumes: "A12", .seeksBeforeStart: "A3", .keepsFetched: "A4", .resumeIsAtOnce: "A5",
        .skipsGoneOffset: "A6", .startsBesideCommit: "A8", .waitsForNobody: "G3", .lossComesAsEventOnly: "G4",
        .namesAreShared: "G6", .anyTokenIsAccepted: "G8", .unsettledLooksSettled: "T3", .initCommits: "T4",
        .discardedArrive: "T14",
        .initFencesNobody: "T4", .abortedIsVisible: "T2", .offsetsComeEarly: "T1", .lateIsRefused: "T10",
        .repeatsAreHidden: "T9", .neverTimesOut: "T5", .metadataIsInvented: "Q3", .readsOpen: "R1",
        .endsAreStable: "Q1", .stopIsIgnored: "R3", .skipsTombstones: "R2", .offsetsDoNotWait: "Q2",
        .takesLargeRecords: "T6", .ledgerOffsetsAreHidden: "L4",
    ]

    @Test(arguments: WrongModel.allCases)
    func `each wrong model is noticed by its script within twenty seeds`(wrong: WrongModel) throws {
        let number = try #require(Self.noticedBy[wrong], "no script is named for it")
        let script = try #require(ContractScript.all.first { $0.number == number })
        let isNoticed = (1...20).contains { seed in
            // A script that comes to no end has noticed it, too.
            guard let outcome = try? script.run(in: ModelWorld(seed: UInt64(seed), wrong: wrong)) else { return true }
            return !outcome.isAllowed || !(ModelOutcomes.listed[number] ?? []).contains(outcome.text)
        }
        #expect(isNoticed, "\(script) passes")
    }
}
