internal import Foundation
internal import FuzzSupport

let target = try GatewayTarget()
exit(FuzzDriver.run(seeds: { GatewaySeeds.all }, target: target.run))
