package struct JSONFault: Error, Equatable, Sendable {
    package enum Code: Sendable {
        case syntax, invalidUTF8, leftover, empty
        /// The text is JSON so far, but exceeds a limit.
        case tooDeep, tooManyNodes, tooManyMembers, nameTooLong

        package var isLimit: Bool {
            switch self {
            case .tooDeep, .tooManyNodes, .tooManyMembers, .nameTooLong: true
            case .syntax, .invalidUTF8, .leftover, .empty: false
            }
        }
    }
    package let code: Code
    package let offset: Int

    package var isLimit: Bool { code.isLimit }

    package init(code: Code, offset: Int) {
        self.code = code
        self.offset = offset
    }
}
