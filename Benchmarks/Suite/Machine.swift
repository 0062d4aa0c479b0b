internal import COpenSSL
internal import CProcessorProbe
internal import Foundation

/// Where the figures were taken: without it they mean nothing.
struct Machine {
    /// Model name, family and model number.
    let processor: String
    /// How many of IFMA's multiplications it does in a cycle: two on some, one on others, 0 without AVX-512 IFMA.
    let vpmadd52PerCycle: Double
    let cores: Int
    let openSSL: String

    init() {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?.split(separator: "\n") ?? []
        func value(_ name: String) -> String? {
            lines.first { $0.hasPrefix(name + "\t") }?.split(separator: ":").last.map {
                $0.trimmingCharacters(in: .whitespaces)
            }
        }
        processor =
            "\(value("model name") ?? "unknown processor"), family \(value("cpu family") ?? "?"), "
            + "model \(value("model") ?? "?")"
        vpmadd52PerCycle = probe_madd52_per_cycle()
        cores = ProcessInfo.processInfo.activeProcessorCount
        // A constant of the library.
        openSSL = unsafe String(cString: OpenSSL_version(OPENSSL_VERSION_STRING))
    }

    var text: String {
        "\(processor), \(String(format: "%.2f", vpmadd52PerCycle)) vpmadd52 a cycle, \(cores) cores, OpenSSL \(openSSL)"
    }
}
