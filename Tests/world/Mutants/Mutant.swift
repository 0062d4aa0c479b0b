internal import Glibc

/// In a copy of the tree in which bugs are planted: the one that this process has now. What a fleet is compared with is
/// made before its test sets the variable.
package enum Mutant {
    package static func has(_ bug: String) -> Bool {
        guard let name = unsafe getenv("MUTANT") else { return false }
        return unsafe strcmp(name, bug) == 0
    }
}
