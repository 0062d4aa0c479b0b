internal import AppAttest
internal import Log

extension RecordHeader {
    init(_ name: String, _ value: ExactText) { self.init(name: Array(name.utf8), value: value.utf8) }
}
