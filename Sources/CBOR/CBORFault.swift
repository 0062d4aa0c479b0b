/// Why bytes are not the one strict item that was expected, and where.
package struct CBORFault: Error, Equatable, Sendable {
    package enum Code: Sendable {
        case truncated, indefiniteLength, nonMinimalHead, duplicateKey, tag, tooDeep, tooManyItems, leftover
        case invalidUTF8
        /// A map's key with more bytes than any known one.
        case keyTooLong
        /// A float, a simple value without meaning, a reserved head, or an array or map as a map's key.
        case unsupported
    }
    package let code: Code
    /// The offset of the faulty item's head, or of the leftover, in the bytes given.
    package let offset: Int

    package init(code: Code, offset: Int) {
        self.code = code
        self.offset = offset
    }
}
