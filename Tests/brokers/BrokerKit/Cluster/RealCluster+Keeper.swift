extension RealCluster {
    /// The shell that keeps the brokers. Signals end its reading, not the shell itself, so that it still tidies up.
    ///
    /// `ID/pid` has a broker's process id, and `ID/ended` exists once it has ended.
    static let script = """
        folder=$1; java=$2; home=$3; brokers=$4; disk=$5; kept=$6
        shift 6
        trap : INT HUP TERM
        options=-Dlog4j2.disable.jmx=true
        if [ -f "$home/log4j2.properties" ]; then options=-Dlog4j2.configurationFile=$home/log4j2.properties; fi
        cd "$folder" || exit 1
        ids=$(seq 1 "$brokers")
        cluster=$(head -c 16 /dev/urandom | base64 | tr '+/' 'ab' | cut -c 1-22)
        for id in $ids; do
          mkdir -p "$id/data"
          if [ "$disk" -gt 0 ]; then mount -t tmpfs -o "size=${disk}m" tmpfs "$folder/$id/data"; fi
          (
            export KAFKA_LOG="$folder/$id"
            "$java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx128m "$options" -cp "$home/libs/*" \
              kafka.tools.StorageTool format -t "$cluster" -c "$id/server.properties" "$@" \
              >"$id/broker.log" 2>&1 </dev/null || touch "$id/ended"
          ) &
        done
        wait
        start() {
          (
            cd "$folder/$1" || exit 1
            export KAFKA_LOG="$folder/$1"
            if [ -n "$CLOCK_SHIM" ]; then export LD_PRELOAD="$CLOCK_SHIM" CLOCK_OFFSET="$CLOCK_FOLDER/broker-$1.clock"; fi
            "$java" -XX:+UseSerialGC -Djava.awt.headless=true -Xms96m -Xmx320m "$options" -cp "$home/libs/*" \
              kafka.Kafka server.properties >>broker.log 2>&1 </dev/null &
            echo $! >pid
            wait $!
            touch ended
          ) </dev/null >/dev/null 2>&1 &
        }
        for id in $ids; do
          if [ ! -f "$id/ended" ]; then start "$id"; fi
        done
        while read -r word id size; do
          case $word in
            pause) kill -STOP "$(cat "$id/pid")" ;;
            resume) kill -CONT "$(cat "$id/pid")" ;;
            kill) kill -KILL "$(cat "$id/pid")" ;;
            term) kill -TERM "$(cat "$id/pid")" ;;
            start) start "$id" ;;
            disk) mount -o "remount,size=${size}m" "$folder/$id/data" ;;
          esac
        done 2>/dev/null
        for id in $ids; do
          if [ ! -f "$id/ended" ]; then kill -KILL "$(cat "$id/pid")" 2>/dev/null; fi
        done
        wait
        cd /
        if [ "$disk" -gt 0 ]; then for id in $ids; do umount "$folder/$id/data"; done; fi
        if [ -z "$kept" ]; then rm -rf "$folder"; fi
        """
}
