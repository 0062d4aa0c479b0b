/// A capture's line that is not a record.
package struct CaptureFault: Error, Equatable, Sendable {
    package let lineNumber: Int
    package let reason: String
}
