/// A secret's file by its id; `file` is resolved against the config directory.
package struct KeyEntry: Sendable, Equatable {
    package var id = ""
    package var file = ""
}
