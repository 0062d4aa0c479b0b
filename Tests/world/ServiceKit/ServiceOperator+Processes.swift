internal import AppAttest
internal import AppCheck
internal import Kafka
internal import Settings
internal import SimulationKit
internal import Streams

/// Procedures on processes, machines and devices' keys.
extension ServiceOperator {
    func restart(isOrderly: Bool) -> [Step] {
        let gateway = world.gateways.randomElement(using: &world.random)
        return [
            Step(wait: 0, name: (isOrderly ? "restarts " : "kills ") + (gateway?.name ?? "")) {
                if isOrderly { gateway?.stop() } else { gateway?.kill() }
            }
        ]
    }

    func wrongClock() -> [Step] {
        let ahead: [Int64] = [8_000, 45_000, 90_000, 600_000, 3_600_000, -8_000, -45_000, -45_000, -100_000, -400_000]
        // Without brokers' times of what is written a worker cannot tell a clock that is further ahead than it tolerates.
        let most = world.fleet.broker.tellsLedgerTimes ? Int64.max : 45_000
        let offset = ahead.filter { $0 <= most }.randomElement(using: &world.random) ?? 0
        let drift: Int64 = world.dice(4) == 0 ? Int64.random(in: -2_000...2_000, using: &world.random) : 0
        let machines: [(name: String, clock: ServiceClock)] =
            switch world.dice(8) {
            case 0: world.backends.map { ($0.name, $0.clock) }
            case 1: world.devices.map { ($0.name, $0.clock) }
            case 2, 3, 4: world.gateways.map { ($0.name, $0.clock) }
            default: world.desks.values.sorted { $0.name < $1.name }.map { ($0.name, $0.clock) }
            }
        guard let machine = machines.randomElement(using: &world.random) else { return [] }
        return [
            Step(wait: 0, name: "sets the clock of \(machine.name) \(offset) ms ahead, drift \(drift)") {
                [unowned self] in
                machine.clock.set(ahead: offset, drift: drift, at: world.now)
            },
            Step(wait: Int64(world.dice(600_000)), name: "sets the clock of \(machine.name) right") { [unowned self] in
                machine.clock.set(ahead: 0, at: world.now)
            },
        ]
    }

    /// The token of a machine's keys fails, or gives no answer.
    func loseKeys() -> [Step] {
        let desk = world.desks.values.sorted { $0.name < $1.name }.randomElement(using: &world.random)
        guard let desk, world.plan.holdsKeys else { return [] }
        let (failures, hangs) = [(0.3, 0), (1, 0), (0, 0.3), (0, 1)].randomElement(using: &world.random) ?? (1, 0)
        return [
            Step(
                wait: 0,
                name: "the token of \(desk.name)'s keys fails in \(failures) and hangs in \(hangs) of its calls"
            ) {
                desk.disturbToken(failures: failures, hangs: hangs)
            },
            Step(wait: Int64(world.dice(900_000)), name: "the token of \(desk.name)'s keys is well again") {
                desk.disturbToken(failures: 0, hangs: 0)
            },
        ]
    }

    func cutOff() -> [Step] {
        let gateway = world.gateways.randomElement(using: &world.random)
        return [
            Step(wait: 0, name: "\(gateway?.name ?? "") is cut off from the brokers") { gateway?.isCutOff = true },
            Step(wait: Int64(world.dice(40_000)), name: "\(gateway?.name ?? "") is connected again") {
                gateway?.isCutOff = false
            },
        ]
    }

    func scale() -> [Step] {
        var added: ServiceGateway?
        return [
            Step(wait: 0, name: "starts one gateway more") { [unowned self] in added = world.addGateway() },
            Step(wait: Int64(world.dice(120_000)), name: "takes it away") { added?.leave() },
        ]
    }

    /// All brokers' clocks are wrong, and all others are right.
    func wrongBrokers() -> [Step] {
        let far: [Int64] = world.fleet.broker.tellsLedgerTimes ? [600_000] : []
        let offsets: [Int64] = [-240_000, -45_000, -8_000, 8_000, 45_000] + far
        let offset = offsets.randomElement(using: &world.random) ?? 0
        func set(_ ahead: Int64) {
            world.trueAhead = ahead
            for clock in world.clocks { clock.set(ahead: ahead, at: world.now) }
        }
        return [
            Step(wait: 0, name: "the brokers' clocks are \(-offset) ms ahead") { set(offset) },
            Step(wait: Int64(world.dice(200_000)), name: "the brokers' clocks are right") { set(0) },
        ]
    }

    // MARK: keys of devices

    func command(isBan: Bool) -> [Step] {
        let device = world.devices.filter { $0.kind != .forger && $0.keyID != nil }.randomElement(using: &world.random)
        guard let device, let key = device.keyID else { return [] }
        guard isBan else {
            return [Step(wait: 0, name: "forgets the key of \(device.name)") { [unowned self] in order(.forget, key) }]
        }
        return [
            Step(wait: 0, name: "bans the key of \(device.name)") { [unowned self] in order(.ban, key) },
            Step(wait: Int64(world.dice(120_000)), name: "lifts the ban of \(device.name)'s key") { [unowned self] in
                order(.unban, key)
            },
        ]
    }

    /// As `attest-worker ban` writes it, by a key that each worker has.
    func order(_ action: OperatorCommand.Action, _ key: KeyID) {
        let time = EvaluationTime(milliseconds: world.broker.time)
        let command = OperatorCommand(action, .key(key), issuedAt: time, nonce: world.bytes(of: "operator")(16))
        guard let signer = try? OperatorKeys(world.folder.loaded(ServiceFiles()).keys.rings).active else {
            return world.complain("no key signs a command")
        }
        let partition = Partitioner.murmur2.partition(of: key.recordKey, count: Int32(world.broker.partitions.count))
        world.account.touched.insert(key.recordKey)
        banned = action == .ban ? key : nil
        let record = world.broker.append(key.recordKey, OperatorRequest.value(command, signer), [], to: partition)
        world.noteWritten(record)
        world.account.bans[RecordPlace(partition: record.partition, offset: record.offset)] = action == .ban
    }
}
