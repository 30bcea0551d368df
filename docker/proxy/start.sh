#!/bin/sh
# Runs nginx before the API containers. nginx 1.27.3 and later looks up their addresses every second. An older one looks
# them up when it loads its configuration, so it loads it again when they change.
set -eu
conf=/etc/floodgate/nginx.conf
server() {
  echo "server api:3000 max_fails=3 fail_timeout=1s $1;" > /tmp/servers.conf
  echo "server api:3000 max_fails=0 $1;" > /tmp/all-servers.conf
}
addresses() { getent ahostsv4 api | cut -d ' ' -f 1 | sort -u; }

# nginx does not start without an address.
until [ -n "$(addresses)" ]; do sleep 1; done
server resolve
if nginx -t -q -c "$conf" 2> /tmp/refused; then exec nginx -c "$conf" -g 'daemon off;'; fi

server ''
known=$(addresses)
nginx -c "$conf" -g 'daemon off;' &
proxy=$!
trap 'kill -QUIT "$proxy"' TERM INT QUIT
while kill -0 "$proxy" 2> /dev/null; do
  sleep 1 &
  wait $! || true
  now=$(addresses)
  if [ -n "$now" ] && [ "$now" != "$known" ]; then
    known=$now
    kill -HUP "$proxy"
  fi
done
