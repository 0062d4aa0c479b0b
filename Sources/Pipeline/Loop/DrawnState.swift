/// A state whose steps are drawn in its type's comment; a variable of it checks every assignment. A step that is not
/// drawn is a bug in this program: neither input nor broker can cause one.
package protocol DrawnState {
    func mayBecome(_ next: Self) -> Bool
}

extension DrawnState {
    package func check(_ next: Self) {
        precondition(mayBecome(next), "\(Self.self): no step goes from \(name) to \(next.name)")
    }

    /// The case's name without the payload, which may be requests.
    private var name: String { Mirror(reflecting: self).children.first?.label ?? "\(self)" }
}
