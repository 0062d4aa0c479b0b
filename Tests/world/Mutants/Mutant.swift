internal import Glibc

/// In a copy of the tree in which bugs are planted: the one that this process has.
package enum Mutant {
    private static let name = unsafe getenv("MUTANT").map { unsafe String(cString: $0) }

    package static func has(_ bug: String) -> Bool { bug == name }
}
