# The nginx of Debian's next release, for compose-proxy.test.ts where nginx:1 is older than 1.27.3. Needs no context:
#   docker build -t floodgate-newer-nginx - < test/end-to-end/newer-nginx.Dockerfile
FROM debian:bookworm-slim
# From the mirror of the image. Packages of two releases contain some of the same files. A mirror may be weeks behind.
RUN mirror=$(grep -hoE 'https?://[^ ]+/debian( |$)' -r /etc/apt/sources.list* | head -1) \
 && echo "deb $mirror forky main" > /etc/apt/sources.list.d/forky.list \
 && apt-get update -qq -o Acquire::Check-Valid-Until=false \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o Dpkg::Options::=--force-overwrite \
    --no-install-recommends --target-release forky nginx \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb
STOPSIGNAL SIGQUIT
CMD ["nginx", "-g", "daemon off;"]
