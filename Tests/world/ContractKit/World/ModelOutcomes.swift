internal import Foundation

/// How scripts end in the model, over 2,000 seeds: what another world does, some seed has to do.
///
/// `CONTRACT_SEEDS=2000 swift test --filter ModelContractTests` compares the file with the model, and names what differs.
package enum ModelOutcomes {
    /// By the scripts' numbers.
    package static let listed: [String: Set<String>] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Outcomes.txt")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").reduce(into: [:]) { outcomes, line in
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard words.count == 2 else { return }
            outcomes[words[0], default: []].insert(words[1])
        }
    }()

    /// How many seeds are played; all that are listed are met by as many as made the list.
    package static let seeds = ProcessInfo.processInfo.environment["CONTRACT_SEEDS"].flatMap { UInt64($0) } ?? 20
    package static let seedsOfList: UInt64 = 2_000
}
