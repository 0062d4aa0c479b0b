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
    static func run(in world: any ContractWorld) throws -> Outcome
}

package enum WorldKind: Sendable { case model, mock, real }

extension ContractScript {
    package static var needs: Set<Ability> { [] }
}

/// A script without its outcome's type.
package struct AnyScript: Sendable, CustomStringConvertible {
    package struct Outcome: Hashable, Sendable {
        package let text: String
        package let isAllowed: Bool
    }

    package let number: String
    package let title: String
    package let worlds: Set<WorldKind>
    package let needs: Set<Ability>
    private let body: @Sendable (any ContractWorld) throws -> Outcome

    init<Script: ContractScript>(_ script: Script.Type) {
        (number, title, worlds, needs) = (Script.number, Script.title, Script.worlds, Script.needs)
        body = { world in
            let outcome = try Script.run(in: world)
            return Outcome(text: "\(outcome)", isAllowed: Script.allowed.contains(outcome))
        }
    }

    package var description: String { "\(number): \(title)" }

    package func run(in world: any ContractWorld) throws -> Outcome { try body(world) }

    /// Those that are to run in a kind of world.
    package static func scripts(in kind: WorldKind) -> [AnyScript] { all.filter { $0.worlds.contains(kind) } }
}
