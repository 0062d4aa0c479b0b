/// The same steps in every world. What it returns is what the worlds are compared by.
package protocol ContractScript: Sendable {
    associatedtype Outcome: Hashable & Sendable
    /// As the plan of the contract numbers it.
    static var number: String { get }
    static var title: String { get }
    static var worlds: Set<WorldKind> { get }
    static var needs: Set<Ability> { get }
    /// What the member can live with.
    static var allowed: Set<Outcome> { get }
    /// Of libraries that differ from the one that the model imitates; empty where this process has that one.
    static var ofNewerLibrary: Set<Outcome> { get }
    /// Whether a slow machine has other outcomes, so that worlds are not compared by them.
    static var dependsOnMachine: Bool { get }
    static func run(in world: any ContractWorld) throws -> Outcome
}

package enum WorldKind: Sendable { case model, mock, real }

extension ContractScript {
    package static var needs: Set<Ability> { [] }
    package static var dependsOnMachine: Bool { false }
    package static var ofNewerLibrary: Set<Outcome> { [] }
}

/// A script without its outcome's type.
package struct AnyScript: Sendable, CustomStringConvertible {
    package struct Outcome: Hashable, Sendable {
        package let text: String
        package let isAllowed: Bool
        /// Whether the model cannot have it, since it imitates an older library.
        package let isOfNewerLibrary: Bool
    }

    package let number: String
    package let title: String
    package let worlds: Set<WorldKind>
    package let needs: Set<Ability>
    package let dependsOnMachine: Bool
    private let body: @Sendable (any ContractWorld) throws -> Outcome

    init<Script: ContractScript>(_ script: Script.Type) {
        (number, title, worlds, needs) = (Script.number, Script.title, Script.worlds, Script.needs)
        dependsOnMachine = Script.dependsOnMachine
        body = { world in
            let outcome = try Script.run(in: world)
            // Without the names of types.
            let text = "\(outcome)".replacing(/ContractKit\.(\w+\.)*/, with: "")
            let isNewer = Script.ofNewerLibrary.contains(outcome)
            let isAllowed = isNewer || Script.allowed.contains(outcome)
            return Outcome(text: text, isAllowed: isAllowed, isOfNewerLibrary: isNewer)
        }
    }

    package var description: String { "\(number): \(title)" }

    package func run(in world: any ContractWorld) throws -> Outcome { try body(world) }

    /// Whether the model plays it.
    package var isModelled: Bool { worlds.contains(.model) && needs.isSubset(of: ModelWorld.all) }

    /// Those that are to run in a kind of world.
    package static func scripts(in kind: WorldKind) -> [AnyScript] { all.filter { $0.worlds.contains(kind) } }
}
