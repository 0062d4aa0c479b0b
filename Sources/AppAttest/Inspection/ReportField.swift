/// One field by its path in the object, such as `leaf.notAfter`.
package struct ReportField: Sendable, Equatable {
    package let name: String
    package let value: ReportValue

    package init(name: String, value: ReportValue) {
        self.name = name
        self.value = value
    }
}
