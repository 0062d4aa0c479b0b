extension BrokerSettings {
    /// The settings of each of a process's loops, which are members of the group like those of any other process.
    ///
    /// One loop has the instance's own name. Several have it with a number, so that each has a transactional id and a
    /// separate static member id, the same after every restart.
    package func members(_ count: Int) -> [BrokerSettings] {
        guard count > 1 else { return [self] }
        return (0..<count).map { number in
            var member = self
            member.instanceName = "\(instanceName)-\(number)"
            return member
        }
    }
}
