internal import AppAttest
internal import AppCheck
internal import DeviceLab
internal import SimulationKit
internal import TestKit

/// An operator's procedures, by the pages that describe them.
package enum ServiceProcedure: String, CaseIterable, Sendable {
    // Keys, Rotation: in its order.
    case rotateSigningKey, rotateSealingKey, rotateChallengeKey
    /// Keys are activated before every machine has them.
    case rotateInAnyOrder
    // Keys, Revoking: also while another file is invalid.
    case revokeSigningKey, revokeBesideMistake
    /// A key signs before it is in the file of `gateway.publicKeys`.
    case forgetKeySet
    // Keys, Rotation: a new app, another App ID, a retired app.
    case addApp, addAppleID, retireApp
    /// A wrong apps.json on one machine, corrected later; its process may start with it.
    case mistake
    // Deployment and Gateway: restarts, more and fewer gateways.
    case restart, killGateway, scale
    // Operating: a key is banned for a while, or forgotten.
    case ban, forget
    /// A machine's clock is set wrong, or drifts; or the brokers' are.
    case wrongClock, wrongBrokers
    /// A gateway has no connection to the brokers for a while.
    case cutOff
    /// Signing keys are in a token, which fails or does not answer.
    case loseKeys
    /// Commands on the ledger, while no worker runs.
    case importKeys, resetOffsets, resetLedger
}

/// Runs one procedure at a time; a changed file reaches each machine after a delay.
final class ServiceOperator {
    struct Step {
        let wait: Int64
        let name: String
        let act: () -> Void
    }

    /// When a changed file has reached each machine, in milliseconds.
    private var rollout: Int64 { world.plan.arrival + 10_000 }
    private static let hour: Int64 = 3_600_000

    unowned let world: ServiceWorld
    private var steps: ArraySlice<Step> = []
    private var procedure: ServiceProcedure?
    /// The banned key; nil = none.
    var banned: KeyID?
    private var due: Int64 = 0
    private var isBusy = false
    /// Whether it waits, and all others work as often as they must.
    var isWaiting = false
    /// When the last change reaches each machine.
    private var arrivals: [String: Int64] = [:]
    private var names = (signing: 1, secret: 1, app: 0)

    init(_ world: ServiceWorld) { self.world = world }

    func move() {
        // While a command waits, the world goes on.
        guard !isBusy else { return }
        isBusy = true
        defer { isBusy = false }
        guard let step = steps.first else {
            guard world.chance(world.plan.acts) else { return }
            let all = ServiceProcedure.allCases.filter(world.plan.procedures.contains)
            if let next = all.randomElement(using: &world.random) { begin(next) }
            return
        }
        if world.now < due {
            // Long waits pass at once, up to what happens next.
            world.leap(until: due)
            return
        }
        steps.removeFirst()
        world.note("operator", step.name)
        step.act()
        if steps.isEmpty, let procedure { world.account.meet("\(procedure), done") }
        due = world.now + (steps.first?.wait ?? 0)
    }

    /// Ends the procedure: a step before its time would be another procedure.
    func calm() {
        steps = []
        world.fleet.open()
        if let banned { order(.unban, banned) }
    }

    private func begin(_ procedure: ServiceProcedure) {
        steps = ArraySlice(plan(procedure))
        guard !steps.isEmpty else { return }
        self.procedure = procedure
        world.account.meet("\(procedure)")
        due = world.now + (steps.first?.wait ?? 0)
    }

    private func plan(_ procedure: ServiceProcedure) -> [Step] {
        switch procedure {
        case .rotateSigningKey: rotateSigningKey()
        case .rotateSealingKey: rotateSealingKey()
        case .rotateChallengeKey: rotateChallengeKey()
        case .rotateInAnyOrder: rotateInAnyOrder()
        case .revokeSigningKey: revokeSigningKey()
        case .revokeBesideMistake: breakWorkers() + revokeSigningKey() + fixWorkers()
        case .forgetKeySet: forgetKeySet()
        case .addApp: addApp()
        case .addAppleID: addAppleID()
        case .retireApp: retireApp()
        case .mistake: mistake()
        case .restart, .killGateway: restart(isOrderly: procedure == .restart)
        case .scale: scale()
        case .ban, .forget: command(isBan: procedure == .ban)
        case .wrongClock: wrongClock()
        case .wrongBrokers: wrongBrokers()
        case .cutOff: cutOff()
        case .loseKeys: loseKeys()
        case .importKeys: importKeys()
        case .resetOffsets: resetOffsets()
        case .resetLedger: resetLedger()
        }
    }

    // MARK: files

    private enum Role { case gateways, workers }

    private func change(
        _ roles: [Role],
        after wait: Int64 = 0,
        _ name: String,
        _ edit: @escaping (inout ServiceFiles) -> Void
    ) -> Step {
        Step(wait: wait, name: name) { [unowned self] in
            edit(&world.files)
            for role in roles { send(to: role, edit) }
        }
    }

    private func send(to role: Role, _ edit: @escaping (inout ServiceFiles) -> Void) {
        switch role {
        case .gateways:
            for gateway in world.gateways { arrive(at: gateway.name) { edit(&gateway.files) } }
        case .workers:
            for desk in world.desks.values.sorted(by: { $0.name < $1.name }) {
                arrive(at: desk.name) { edit(&desk.files) }
            }
        }
    }

    /// A change reaches a machine, after those before it.
    private func arrive(at machine: String, _ edit: @escaping () -> Void) {
        let moment = max(world.now + Int64(world.dice(Int(world.plan.arrival))), arrivals[machine] ?? 0)
        arrivals[machine] = moment
        // A calm world has all changes.
        world.later(moment - world.now) { [unowned world] in if world.isChaotic { edit() } }
    }

    private func both(_ order: [Role], _ name: String, _ edit: @escaping (inout ServiceFiles) -> Void) -> [Step] {
        [
            change([order[0]], name + " on \(order[0])", edit),
            change([order[1]], after: rollout, name + " on \(order[1])", edit),
        ]
    }

    // MARK: keys

    private func rotateSigningKey() -> [Step] {
        guard names.signing < ServiceFolder.kids.count else { return [] }
        let old = ServiceFolder.kids[names.signing - 1]
        let new = ServiceFolder.kids[names.signing]
        names.signing += 1
        return [
            change([.workers, .gateways], "adds signing key \(new)") {
                if !$0.signing.contains(where: { $0.kid == new }) {
                    $0.signing.append(.init(kid: new, state: .published))
                }
            },
            change([.gateways, .workers], after: rollout, "serves a key set with \(new)") {
                $0.keySet = $0.published
            },
            change([.workers, .gateways], after: 7 * Self.hour, "activates signing key \(new)") { $0.sign(by: new) },
            change([.workers, .gateways], after: 2 * Self.hour, "takes signing key \(old) off its list") {
                $0.signing.removeAll { $0.kid == old }
            },
            change([.gateways, .workers], after: rollout, "serves a key set without \(old)") {
                $0.keySet = $0.published
            },
        ]
    }

    private func revokeSigningKey() -> [Step] {
        guard names.signing < ServiceFolder.kids.count else { return [] }
        let old = ServiceFolder.kids[names.signing - 1]
        let new = ServiceFolder.kids[names.signing]
        names.signing += 1
        world.account.early.insert(new)
        let revoke = change([.workers, .gateways], "revokes signing key \(old) and activates \(new)") { files in
            files.sign(by: new)
            for index in files.signing.indices where files.signing[index].kid == old {
                files.signing[index].state = .revoked
            }
            files.keySet = files.published
        }
        return [
            Step(wait: 0, name: "hears that \(old) is stolen, and \(revoke.name)") { [unowned self] in
                world.account.revoked[old] = world.now
                revoke.act()
            }
        ]
    }

    private func breakWorkers() -> [Step] {
        [
            Step(wait: 0, name: "breaks apps.json on every other worker") { [unowned self] in
                // Where it breaks on all, those that crash do not start, and a backlog outlasts the calm.
                for (index, desk) in world.desks.values.sorted(by: { $0.name < $1.name }).enumerated() {
                    desk.files.mistake = index % 2 == 0 ? .unreadable : nil
                }
            }
        ]
    }

    private func fixWorkers() -> [Step] {
        [
            Step(wait: 400_000, name: "corrects apps.json on the workers") { [unowned self] in
                for desk in world.desks.values { desk.files.mistake = nil }
            }
        ]
    }

    private func forgetKeySet() -> [Step] {
        guard names.signing < ServiceFolder.kids.count else { return [] }
        let new = ServiceFolder.kids[names.signing]
        names.signing += 1
        world.account.early.insert(new)
        return [
            change([.workers], "activates signing key \(new), and forgets the key set") { $0.sign(by: new) },
            change([.gateways], after: 500_000, "serves a key set with \(new)") { $0.keySet = $0.published },
        ]
    }

    private func nextSecret() -> Int? {
        guard names.secret < 3 else { return nil }
        names.secret += 1
        return names.secret
    }

    private func rotateSealingKey() -> [Step] {
        guard let number = nextSecret() else { return [] }
        let new = "s\(number)"
        return [
            change([.workers, .gateways], "adds sealing key \(new)") {
                if !$0.sealing.contains(new) { $0.sealing.append(new) }
            },
            change([.workers, .gateways], after: rollout, "activates sealing key \(new)") {
                $0.sealing = [new] + $0.sealing.filter { $0 != new }
            },
        ]
    }

    private func rotateChallengeKey() -> [Step] {
        guard let number = nextSecret() else { return [] }
        let new = "c\(number)"
        let add: (inout ServiceFiles) -> Void = { if !$0.challenges.contains(new) { $0.challenges.append(new) } }
        let activate: (inout ServiceFiles) -> Void = { $0.challenges = [new] + $0.challenges.filter { $0 != new } }
        return [change([.workers, .gateways], "adds challenge key \(new)", add)]
            + [change([.gateways], after: rollout, "activates challenge key \(new) on gateways", activate)]
            + [change([.workers], after: rollout, "activates challenge key \(new) on workers", activate)]
            + [change([.gateways], after: 400_000, "keeps \(new) alone on gateways") { $0.challenges = [new] }]
            + [change([.workers], after: rollout, "keeps \(new) alone on workers") { $0.challenges = [new] }]
    }

    /// A machine uses a key as soon as it has it.
    private func rotateInAnyOrder() -> [Step] {
        guard let number = nextSecret() else { return [] }
        let (sealing, challenge) = ("s\(number)", "c\(number)")
        let order: [Role] = world.dice(2) == 0 ? [.gateways, .workers] : [.workers, .gateways]
        let isAlone = world.dice(3) == 0
        return both(order, "puts keys \(sealing) and \(challenge) first\(isAlone ? ", the latter alone" : "")") {
            $0.sealing = [sealing] + $0.sealing.filter { $0 != sealing }
            $0.challenges = [challenge] + $0.challenges.filter { $0 != challenge && !isAlone }
        }
    }

    // MARK: apps

    private func addApp() -> [Step] {
        guard names.app == 0 else { return [] }
        names.app = 1
        let id = ExchangeKit.otherAppID
        let app = ServiceFiles.App(id: id, appleIDs: [ExchangeKit.appleAppID], clients: [ExchangeKit.client])
        let order: [Role] = world.dice(2) == 0 ? [.gateways, .workers] : [.workers, .gateways]
        let ship = Step(wait: Int64(world.dice(120_000)), name: "ships the new app") { [unowned self] in
            guard let index = world.files.apps.firstIndex(of: app) else { return }
            for _ in 0..<2 { world.addDevice(.app, of: index) }
        }
        let steps = both(order, "lists a new app") { if !$0.apps.contains(app) { $0.apps.append(app) } }
        return [steps[0], ship, steps[1]]
    }

    private func addAppleID() -> [Step] {
        let id = "ABCDE12345.com.example.next"
        guard !world.files.apps[0].appleIDs.contains(id) else { return [] }
        let order: [Role] = world.dice(2) == 0 ? [.gateways, .workers] : [.workers, .gateways]
        // Gateways or workers list it by then: an unlisted App ID costs the device its key.
        let ship = Step(wait: rollout, name: "ships the app under another App ID") { [unowned self] in
            for _ in 0..<3 { world.addDevice(.app) }
        }
        let steps = both(order, "lists another App ID") { files in
            guard !files.apps.isEmpty, !files.apps[0].appleIDs.contains(id) else { return }
            files.apps[0].appleIDs.append(id)
            files.apps[0].clients = ["123456789012-zyxwvutsrqponmlkjihgfedcba543210.apps.googleusercontent.com"]
        }
        return [steps[0], ship, steps[1]]
    }

    private func retireApp() -> [Step] {
        guard names.app < 2 else { return [] }
        let add = addApp()
        names.app = 2
        return add
            + both(world.dice(2) == 0 ? [.gateways, .workers] : [.workers, .gateways], "retires the new app") { files in
                files.apps.removeAll { $0.id == ExchangeKit.otherAppID }
                let app = "projects/\(ServiceFiles.project)/apps/\(ExchangeKit.otherAppID)"
                files.retired = [app, "oauthClients/\(ExchangeKit.client)"]
            }
    }

    private func mistake() -> [Step] {
        let mistake = ServiceFiles.Mistake.allCases.randomElement(using: &world.random)
        let isGateway = world.dice(2) == 0
        let gateway = world.gateways.randomElement(using: &world.random)
        let desk = world.desks.values.sorted { $0.name < $1.name }.randomElement(using: &world.random)
        let name = isGateway ? gateway?.name : desk?.name
        func set(_ mistake: ServiceFiles.Mistake?) {
            if isGateway { gateway?.files.mistake = mistake } else { desk?.files.mistake = mistake }
        }
        return [
            Step(wait: 0, name: "gives \(name ?? "") a wrong apps.json: \(mistake?.rawValue ?? "")") { set(mistake) },
            Step(wait: Int64(world.dice(60_000)), name: "restarts \(name ?? "")") { [unowned self] in
                guard world.dice(2) == 0 else { return }
                if isGateway { gateway?.stop() } else { world.fleet.stop(desk?.name ?? "") }
            },
            Step(wait: Int64(world.dice(200_000)), name: "corrects apps.json of \(name ?? "")") { set(nil) },
        ]
    }
}
