/// The work that a thread does on a record.
package enum WorkStage: Int64, Sendable, CaseIterable {
    case decoding = 1
    case resolving, verifying, admitting, encoding
}
