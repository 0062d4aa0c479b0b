internal import Foundation

/// Traps where a claim does not hold, and says which: an optimised build's own traps share one address.
package func insist(_ holds: Bool, _ claim: @autoclosure () -> String) {
    guard !holds else { return }
    FileHandle.standardError.write(Data("does not hold: \(claim())\n".utf8))
    preconditionFailure("a claim does not hold")
}
