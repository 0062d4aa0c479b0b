internal import Foundation
internal import FuzzSupport

let target = try ReceiptTarget()
exit(FuzzDriver.run(seeds: { target.seeds }, target: target.run))
