internal import CommandFrame

/// Completions for bash, made of the command table: commands, options, and values where they are known.
enum BashCompletion {
    static func script(of commands: [Command]) -> String {
        let names = (commands.map(\.name) + ["help", "--help", "--version"]).joined(separator: " ")
        return """
            # bash completion of \(AttestWorker.name); made by '\(AttestWorker.name) completions bash'.

            _attest_worker_files() {
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
            }

            _attest_worker_words() {
                mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
            }

            _attest_worker() {
                local current="${COMP_WORDS[COMP_CWORD]}" option="${COMP_WORDS[COMP_CWORD - 1]}" command="${COMP_WORDS[1]}"
                COMPREPLY=()
                if ((COMP_CWORD == 1)); then
                    _attest_worker_words "\(names)" "$current"
                    return
                fi
                # bash splits --name=VALUE at the sign.
                local sign=""
                if [[ $current == "=" ]]; then
                    sign="="
                    current=""
                elif [[ $option == "=" ]] && ((COMP_CWORD > 2)); then
                    sign="="
                    option="${COMP_WORDS[COMP_CWORD - 2]}"
                fi
                case "$command:$option" in
            \(commands.flatMap(values).joined(separator: "\n"))
                esac
                if [[ $current != -* ]]; then
                    case "$command" in
            \(commands.compactMap(operands).joined(separator: "\n"))
                    help) _attest_worker_words "\(commands.map(\.name).joined(separator: " "))" "$current"; return ;;
                    esac
                fi
                case "$command" in
            \(commands.map(options).joined(separator: "\n"))
                esac
            }

            complete -F _attest_worker \(AttestWorker.name)

            """
    }

    /// The values that follow an option.
    private static func values(_ command: Command) -> [String] {
        command.options.compactMap { option in
            guard let placeholder = option.placeholder else { return nil }
            let action = action(option.choices, placeholder) ?? ":"
            // Another argument may follow a switch; its own word follows a sign.
            let line = option.presence == .bare ? "if [[ $sign ]]; then \(action); return; fi" : "\(action); return"
            return "    \(command.name):\(option.name)) \(line) ;;"
        }
    }

    private static func operands(_ command: Command) -> String? {
        guard let operands = command.operands, let action = action(operands.choices, operands.placeholder) else {
            return nil
        }
        return "        \(command.name)) \(action); return ;;"
    }

    private static func options(_ command: Command) -> String {
        let names = (command.options.map(\.name) + ["--help"]).joined(separator: " ")
        return "    \(command.name)) _attest_worker_words \"\(names)\" \"$current\" ;;"
    }

    private static func action(_ choices: [String], _ placeholder: String) -> String? {
        if !choices.isEmpty {
            return #"_attest_worker_words "\#(choices.joined(separator: " "))" "$current""#
        }
        switch placeholder {
        case "DIR": return #"_attest_worker_files -d "$current""#
        case "FILE", "CAPTURE", "KEYS", "EVENTS", "RESULTS", "OBJECT": return #"_attest_worker_files -f "$current""#
        default: return nil
        }
    }
}
