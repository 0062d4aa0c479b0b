/// The same steps in every world. How they end is what the worlds are compared by.
package struct ContractScript: Sendable, CustomStringConvertible {
    package typealias Body = @Sendable (any ContractWorld) throws -> String

    package struct Outcome: Hashable, Sendable {
        package let text: String
        /// Whether the member can live with it.
        package let isAllowed: Bool
        /// Whether the model cannot have it, since it imitates an older library.
        package let isOfNewerLibrary: Bool
    }

    /// Its number, as the plan of the contract has it, and its title.
    package let description: String
    private let worlds: Set<WorldKind>
    private let ends: Set<String>
    private let ofNewerLibrary: Set<String>
    /// Whether a slow machine has other outcomes, so that worlds are not compared by them.
    package let dependsOnMachine: Bool
    private let body: Body

    /// - Parameters:
    ///   - ends: the outcomes that the member can live with.
    ///   - ofNewerLibrary: those of libraries that differ from the one that the model imitates; empty where this process has
    ///     that one.
    init(
        _ description: String,
        in worlds: Set<WorldKind> = [.model, .mock, .real],
        ends: Set<String>,
        ofNewerLibrary: Set<String> = [],
        dependsOnMachine: Bool = false,
        _ body: @escaping Body
    ) {
        (self.description, self.worlds, self.ends, self.body) = (description, worlds, ends, body)
        (self.ofNewerLibrary, self.dependsOnMachine) = (ofNewerLibrary, dependsOnMachine)
    }

    package var number: String { String(description.prefix { $0 != ":" }) }

    package var isModelled: Bool { worlds.contains(.model) }

    package func run(in world: any ContractWorld) throws -> Outcome {
        let text = try body(world)
        let isNewer = ofNewerLibrary.contains(text)
        return Outcome(text: text, isAllowed: isNewer || ends.contains(text), isOfNewerLibrary: isNewer)
    }

    /// Those that are to run in a kind of world.
    package static func scripts(in kind: WorldKind) -> [ContractScript] { all.filter { $0.worlds.contains(kind) } }

    /// A9, A1 to A3 on a library whose threads are slowed, is left out: it needs a patched build of librdkafka.
    package static let all: [ContractScript] = [
        a1, a2, a3, a4, a5, a6, a7, a8, a10, a11, a12, a13, d1, d2, g1, g2, g3, g4, g5, g6, g7, g8,
        l1, l2, l3, l4, l4a, l5, l6, l6a, l6b, l7, l8, q1, q2, q3, q4, q5, q6, r1, r2, r3, r4, r5,
        t1, t2, t3, t4, t5, t6, t7, t8, t9, t10, t11, t12, t13, t14,
    ]
}

package enum WorldKind: Sendable {
    case model
    /// Without transactions that readers and groups see, fenced owners and members, compaction, stock tools, late frames.
    case mock
    /// Without answers that say something else than the broker means.
    case real
}

extension ContractScript {
    /// A script of the model and both kinds of brokers.
    static func everywhere(_ description: String, ends: Set<String>, _ body: @escaping Body) -> Self {
        Self(description, ends: ends, body)
    }

    /// A script of the model and the mock.
    static func onMock(_ description: String, ends: Set<String>, _ body: @escaping Body) -> Self {
        Self(description, in: [.model, .mock], ends: ends, body)
    }

    /// A script of the model and a real broker.
    static func onReal(_ description: String, ends: Set<String>, _ body: @escaping Body) -> Self {
        Self(description, in: [.model, .real], ends: ends, body)
    }

    /// All outcomes of two parts.
    static func pairs(_ parts: [String], _ text: (String, String) -> String) -> Set<String> {
        Set(parts.flatMap { first in parts.map { text(first, $0) } })
    }
}
