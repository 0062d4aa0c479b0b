#!/usr/bin/env bash
# What `run` reaches on a real broker, beside its two halves: `replay`, which verifies without a broker, and KafkaCopy,
# which polls, writes and commits without verifying. All three read the same records in turns, on this machine's cores,
# which the broker shares. A rate depends on what else uses these; the processor time of a record, of the client and of the
# broker, is the steadier figure. A copy that does not count warms the broker first: its compiler takes the time of five.
#
# Benchmarks/run-beside-copy.sh [RECORDS [TURNS [PARTITIONS]]]    (200000 3 6)
#
# KAFKA_HOME is an unpacked Apache Kafka, else ../shared/kafka beside the checkout; it needs Java 17, and kcat reads the
# results. BROKER_PORT and the port after it must be free (29092).
set -euo pipefail
cd "$(dirname "$0")/.."

records=${1:-200000} turns=${2:-3} partitions=${3:-6}
devices=$((records / 200 + 1))
port=${BROKER_PORT:-29092}
address=127.0.0.1:$port
kafka=$(cd "${KAFKA_HOME:-../shared/kafka}" && pwd)
work=$(mktemp -d)
started=()

say() { printf '%s\n' "$*" >&2; }

cleanup() {
    local process
    for process in "${started[@]}"; do kill "$process" 2> /dev/null || true; done
    wait 2> /dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT

java_tool() { java -Xmx512m -XX:+UseSerialGC -cp "$kafka/libs/*" "$@"; }

start_broker() {
    cat > "$work/server.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((port + 1))
listeners=PLAINTEXT://$address,CONTROLLER://127.0.0.1:$((port + 1))
controller.listener.names=CONTROLLER
log.dirs=$work/data
auto.create.topics.enable=false
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=6
group.initial.rebalance.delay.ms=0
PROPERTIES
    local id
    id=$(java_tool kafka.tools.StorageTool random-uuid 2> /dev/null)
    java_tool kafka.tools.StorageTool format -t "$id" -c "$work/server.properties" > "$work/broker.log" 2>&1
    # The process itself, whose time is read.
    (exec java -Xmx512m -XX:+UseSerialGC -cp "$kafka/libs/*" kafka.Kafka "$work/server.properties" >> "$work/broker.log" 2>&1) &
    broker=$!
    started+=("$broker")
    local tries=0
    until kcat -b "$address" -L > /dev/null 2>&1; do
        tries=$((tries + 1))
        [ "$tries" -lt 60 ] || { tail -n 20 "$work/broker.log" >&2; return 1; }
        sleep 1
    done
}

# configure NAME: the lab's configuration with a group and output topics of its own; all read the same requests.
configure() {
    cp -a "$work/lab" "$work/$1"
    sed -i -E "s/\"appattest\.(results|tokens|events|dead-letters|ledger)\"/\"$1.\1\"/" "$work/$1/worker.json"
    sed -i "s/^group.id=.*/group.id=$1/" "$work/$1/kafka.properties"
    "$bin/attest-worker" create-topics --config "$work/$1" --partitions "$partitions" --replication 1 > /dev/null
}

# ends TOPIC: the sum of its partitions' ends, transaction markers included.
ends() {
    local partition list=()
    for partition in $(seq 0 $((partitions - 1))); do list+=(-t "$1:$partition:-1"); done
    kcat -b "$address" -Q "${list[@]}" | awk '{ sum += $NF } END { print sum }'
}

# rate TOPIC: records per second, from the time when each was written; the first and the last twentieth are left out.
rate() {
    kcat -b "$address" -C -e -q -X isolation.level=read_committed -t "$1" -f '%T\n' | sort -n |
        awk '{ t[NR] = $1 } END { a = int(NR * 0.05) + 1; b = int(NR * 0.95); print int((b - a) * 1000 / (t[b] - t[a])) }'
}

# ticks PID: the hundredths of a second of processor time that a process has used, its threads' included.
ticks() { awk '{ print $14 + $15 }' "/proc/$1/stat"; }

# share BEFORE AFTER: microseconds of a record.
share() { awk "BEGIN { printf \"%.1f\", ($2 - $1) * 10000 / $records }"; }

# A rate, then the processor time of a record: the client's and the broker's.
measure_replay() {
    "$bin/attest-worker" replay --config "$work/lab" --input "$work/capture.ndjson" --output "$work/replayed" \
        --summary "$work/summary.json" > /dev/null
    sed -E 's/.*"recordsPerSecond":([0-9]+).*/\1/' "$work/summary.json"
}

measure_copy() {
    configure "copy$1"
    local before client speed TIMEFORMAT='%U %S'
    before=$(ticks "$broker")
    { time "$bin/KafkaCopy" "$work/copy$1" "$records" > "$work/copy$1.log" 2>&1; } 2> "$work/copy$1.time" ||
        { cat "$work/copy$1.log" >&2; return 1; }
    client=$(awk '{ print ($1 + $2) * 100 }' "$work/copy$1.time")
    speed=$(rate "copy$1.results")
    printf '%s %s %s\n' "$speed" "$(share 0 "$client")" "$(share "$before" "$(ticks "$broker")")"
}

measure_run() {
    configure "run$1"
    local before client speed
    before=$(ticks "$broker")
    "$bin/attest-worker" run --config "$work/run$1" > "$work/run$1.log" 2>&1 &
    local process=$! last=0 now=0
    started+=("$process")
    until [ "$now" -ge "$records" ] && [ "$now" -eq "$last" ]; do
        kill -0 "$process" 2> /dev/null || { cat "$work/run$1.log" >&2; return 1; }
        sleep 2
        last=$now now=$(ends "run$1.results")
    done
    client=$(ticks "$process")
    kill "$process"
    wait "$process" || true
    # A benchmark of refusals is worth nothing.
    grep -q " 0 refused, 0 deferred, 0 dead letters" "$work/run$1.log" || { cat "$work/run$1.log" >&2; return 1; }
    speed=$(rate "run$1.results")
    printf '%s %s %s\n' "$speed" "$(share 0 "$client")" "$(share "$before" "$(ticks "$broker")")"
}

median() { tr ' ' '\n' | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

swift build -c release --product attest-worker >&2
SOAK=1 swift build -c release --product KafkaCopy >&2
bin=$(swift build -c release --show-bin-path)
start_broker
"$bin/attest-worker" simulate --config "$work/lab" --new-config --devices "$devices" --records "$records" \
    --output "$work/capture.ndjson" > /dev/null
sed -i "s/^bootstrap.servers=.*/bootstrap.servers=$address/" "$work/lab/kafka.properties"
"$bin/attest-worker" create-topics --config "$work/lab" --partitions "$partitions" --replication 1 > /dev/null
"$bin/attest-worker" publish --config "$work/lab" --input "$work/capture.ndjson" >&2

measure_copy 0 > /dev/null

replays=() copies=() runs=() shares=() times=()
for turn in $(seq "$turns"); do
    replay=$(measure_replay)
    copied=$(measure_copy "$turn")
    ran=$(measure_run "$turn")
    read -r copy copy_client copy_broker <<< "$copied"
    read -r run run_client run_broker <<< "$ran"
    share=$(awk "BEGIN { printf \"%.3f\", $run * (1 / $replay + 1 / $copy) }")
    say "turn $turn: replay $replay, KafkaCopy $copy, run $run records/s, $share"
    replays+=("$replay") copies+=("$copy") runs+=("$run") shares+=("$share")
    times+=("$copy_client $copy_broker $run_client $run_broker")
done

# column N: the median of one of the four processor times.
column() { printf '%s\n' "${times[@]}" | awk -v n="$1" '{ print $n }' | median; }

printf '%-44s %8s records/s\n' "replay" "$(median <<< "${replays[*]}")" "KafkaCopy" "$(median <<< "${copies[*]}")" \
    "run" "$(median <<< "${runs[*]}")"
printf '%-44s %8s µs of a core\n' "KafkaCopy, a record" "$(column 1)" "the broker beside it" "$(column 2)" \
    "run, a record" "$(column 3)" "the broker beside it" "$(column 4)"
printf '%-44s %8s (0.8 at least; 0.95 is the aim)\n' "run of 1 / (1/replay + 1/KafkaCopy)" \
    "$(median <<< "${shares[*]}")"
