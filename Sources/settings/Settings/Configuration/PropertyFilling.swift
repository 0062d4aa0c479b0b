/// Fills `${env:NAME}` and `${file:PATH}` into a property's value; `$${` stands for `${` itself.
///
/// Faults name the variable or the file, and never a value: passwords come this way.
struct PropertyFilling {
    let files: ConfigurationFiles
    /// The line and the property, for messages.
    let place: String

    func fill(_ text: String) throws(ConfigurationFault) -> String {
        var (filled, rest) = ("", text[...])
        while let mark = rest.firstRange(of: "${") {
            let before = rest[..<mark.lowerBound]
            if before.last == "$" {
                filled += before.dropLast() + "${"
                rest = rest[mark.upperBound...]
                continue
            }
            guard let end = rest[mark.upperBound...].firstIndex(of: "}") else {
                throw fault("has a ${ without its }; write $${ for a literal ${")
            }
            filled += before
            filled += try value(of: rest[mark.upperBound..<end])
            rest = rest[rest.index(after: end)...]
        }
        return filled + rest
    }

    /// - Parameter reference: `env:NAME` or `file:PATH`.
    private func value(of reference: Substring) throws(ConfigurationFault) -> String {
        let name = String(reference.drop { $0 != ":" }.dropFirst())
        let value =
            switch reference.prefix(while: { $0 != ":" }) {
            case "env" where !name.isEmpty: try variable(name)
            case "file" where !name.isEmpty: try content(of: name)
            default: throw fault("has a ${ that is neither ${env:NAME} nor ${file:PATH}; write $${ for a literal ${")
            }
        // The library would read up to it.
        guard !value.utf8.contains(0) else { throw fault("\(name.printable) has a NUL byte; remove it") }
        return value
    }

    private func variable(_ name: String) throws(ConfigurationFault) -> String {
        guard let value = files.environment(name) else {
            throw fault("the environment variable \(name.printable) is not set; set it, or remove the line")
        }
        return value
    }

    /// The bytes without the newline that editors put at the end.
    private func content(of path: String) throws(ConfigurationFault) -> String {
        let bytes: [UInt8]
        do throws(ConfigurationFault) {
            bytes = try files.read(path, remedy: "make it readable, or remove ${file:…}")
        } catch { throw ConfigurationFault("\(place): \(error.message)") }
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw fault("\(path.printable) has bytes that are not UTF-8")
        }
        if text.last?.isNewline ?? false { text.removeLast() }
        return text
    }

    private func fault(_ problem: String) -> ConfigurationFault { ConfigurationFault("\(place): \(problem).") }
}
