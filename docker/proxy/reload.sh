#!/bin/sh
# Runs nginx, and lets it load its configuration again whenever the addresses of the API containers change. A reload
# answers all open requests.
set -u
addresses() { getent ahostsv4 api | cut -d ' ' -f 1 | sort -u; }
# nginx does not start without an address.
while [ -z "$(addresses)" ]; do sleep 1; done
known=$(addresses)
nginx -c /etc/floodgate/nginx.conf -g 'daemon off;' &
proxy=$!
trap 'kill -QUIT "$proxy"' TERM INT QUIT
while kill -0 "$proxy" 2>/dev/null; do
  sleep 1 &
  wait $!
  now=$(addresses)
  if [ -n "$now" ] && [ "$now" != "$known" ]; then
    known=$now
    kill -HUP "$proxy"
  fi
done
wait "$proxy"
