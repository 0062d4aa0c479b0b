internal import Foundation
internal import FuzzSupport

let (target, exchange) = (try ReceiptTarget(), try ExchangeTarget())
exit(
    FuzzDriver.run(seeds: { target.seeds + exchange.seeds }) { input in
        target.run(input)
        exchange.run(input)
    }
)
