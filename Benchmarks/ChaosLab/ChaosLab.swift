internal import BrokerKit
internal import ChaosKit
internal import Foundation

/// The worker under faults: several processes of it, real brokers and fake devices, killed, paused and restarted under
/// a seed; then every topic is read and held against what the worker promises.
///
/// Exit code 0 = every promise kept and drained in time, 1 = not, 2 = it could not be tried.
@main
struct ChaosLab {
    private var settings = ChaosSettings()

    static func main() {
        do {
            let lab = try ChaosLab(Array(CommandLine.arguments.dropFirst()))
            exit(try lab.run())
        } catch let fault as Usage {
            say("ChaosLab: \(fault.description)\n\(Self.usage)")
        } catch {
            say("ChaosLab: \(error)")
        }
        exit(2)
    }

    private struct Usage: Error { let description: String }

    private static let usage = """
        Usage: ChaosLab [--seed S] [--faults N] [--requests N] [--brokers 1|3] [--workers N] [--seconds S] [--devices N]
                        [--delivery exactly-once|at-least-once] [--membership static|dynamic] [--drain S] [--unpaced]
                        [--kinds A,B] [--batch N] [--hostile SHARE] [--exchange SHARE] [--keep DIR] [--session S] [--transaction S]
                        [--challenge S] [--network] [--operator] [--recreated] [--clocks] [--copies]
                        [--gateways N] [--clients N] [--wishes N] [--replies]
          --session, --transaction   the workers' time-outs, in seconds (6, 10)
          --seconds   between two faults (4)
          --drain     from the last fault until all is answered, at most (60)
          --unpaced   requests come as fast as they can be made, instead of spread over the faults
          --batch     records of a worker's batch at most (10000)
          --exchange  the App Check exchange's part of the requests, 0 to 1 (0.3)
          --challenge the life of challenges, in seconds (60)
          --network   a network between workers and brokers holds, cuts, delays and swallows what they say
          --operator  an operator sets quotas, and deletes and moves the group's offsets
          --clocks    each worker and each broker has a wall clock of its own, which jumps; needs clang
          --copies    workers keep copies of their ledgers, which faults change, and follow those of others
          --recreated at first an operator deletes requests and ledger, creates them again, and repairs it by the runbook
          --gateways  gateways before the topics, killed, paused and cut off like workers, with stock clients (0)
          --clients   stock clients of each gateway, and of nginx before all of them where it is installed (15)
          --wishes    tokens that each of them asks for (24)
          --replies   gateways read their answers from a topic of their own
          --keep      a folder that stays, with the brokers' data and all that processes said
          --kinds     \(ChaosFault.allCases.map { "\($0)" }.joined(separator: ", "))
        """

    private init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            if option == "--unpaced" {
                settings.isPaced = false
                continue
            }
            if option == "--network" {
                settings.hasNetwork = true
                continue
            }
            if option == "--operator" {
                settings.hasOperator = true
                continue
            }
            if option == "--clocks" {
                settings.hasClocks = true
                continue
            }
            if option == "--copies" {
                settings.hasCopies = true
                continue
            }
            if option == "--recreated" {
                settings.recreatesTopics = true
                continue
            }
            if option == "--replies" {
                settings.hasReplies = true
                continue
            }
            guard let value = rest.popFirst() else { throw Usage(description: "\(option) needs a value") }
            try set(option, value)
        }
    }

    private mutating func set(_ option: String, _ value: String) throws {
        switch option {
        case "--seed": settings.seed = try Self.number(option, value)
        case "--faults": settings.faults = try Self.number(option, value)
        case "--requests": settings.requests = try Self.number(option, value)
        case "--workers": settings.workers = max(1, try Self.number(option, value))
        case "--devices": settings.devices = max(1, try Self.number(option, value))
        case "--seconds": settings.secondsBetweenFaults = try Self.number(option, value)
        case "--hostile": settings.hostileShare = min(0.97, max(0, try Self.number(option, value)))
        case "--exchange": settings.exchangeShare = min(1, max(0, try Self.number(option, value)))
        case "--challenge": settings.challengeSeconds = max(1, try Self.number(option, value))
        case "--session": settings.sessionMilliseconds = Int(1000 * (try Self.number(option, value) as Double))
        case "--transaction": settings.transactionMilliseconds = Int(1000 * (try Self.number(option, value) as Double))
        case "--gateways": settings.gateways = max(0, try Self.number(option, value))
        case "--clients": settings.clients = max(1, try Self.number(option, value))
        case "--wishes": settings.wishes = max(1, try Self.number(option, value))
        case "--drain": settings.drainSeconds = try Self.number(option, value)
        case "--keep": settings.keep = value
        case "--batch":
            let records: Int = try Self.number(option, value)
            settings.workerMembers = "\"batch\": {\"records\": \(records)},"
        case "--brokers" where ["1", "3"].contains(value): settings.brokers = try Self.number(option, value)
        case "--delivery" where ["exactly-once", "at-least-once"].contains(value): settings.delivery = value
        case "--membership" where ["static", "dynamic"].contains(value): settings.membership = value
        case "--kinds": settings.kinds = try value.split(separator: ",").map(Self.kind)
        default: throw Usage(description: "\(option) \(value)?")
        }
    }

    private static func number<Number: LosslessStringConvertible>(_ option: String, _ text: String) throws -> Number {
        guard let number = Number(text) else { throw Usage(description: "\(option) \(text) is not a number") }
        return number
    }

    private static func kind(_ name: Substring) throws -> ChaosFault {
        guard let kind = ChaosFault.allCases.first(where: { "\($0)" == name }) else {
            throw Usage(description: "\(name) is not a kind of fault")
        }
        return kind
    }

    private func run() throws -> Int32 {
        guard let installation = KafkaInstallation.found else {
            Self.say(KafkaInstallation.whyMissing)
            return 2
        }
        if settings.gateways == 0, let kind = settings.kinds?.first(where: \.isGateways) {
            throw Usage(description: "\(kind) needs --gateways")
        }
        let report = try ChaosRun(installation, settings, print: Self.say).run()
        Self.say("\n" + report.lines.joined(separator: "\n"))
        return report.passed ? 0 : 1
    }

    /// At once, whether a person or a file is reading.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
