import { randomBytes } from 'node:crypto';
import { copyFile, writeFile } from 'node:fs/promises';
import { onTestFinished } from 'vitest';
import { findFreePort } from '../harness/free-port.ts';
import { queriesOf, type Prometheus } from '../harness/prometheus.ts';
import { temporaryDirectory } from '../harness/temporary-directory.ts';
import { waitUntil } from '../harness/wait-until.ts';
import type { ComposeProject } from './compose-project.ts';

/** The ports on which the services of the Compose file have their metrics. */
const METRICS_PORTS = { api: 9464, worker: 3001, delivery: 3002, console: 9464 };

/** The conventions of the image prom/prometheus, with the Prometheus of this machine. */
const dockerfileFrom = (base: string) => `
FROM ${base}
COPY prometheus /bin/prometheus
RUN mkdir /prometheus && chown nobody /prometheus
USER nobody
WORKDIR /prometheus
VOLUME /prometheus
ENTRYPOINT ["/bin/prometheus"]
CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]
`;

/** Starts the Prometheus of the Compose file. It runs until the project is removed, and its image until the test ends. */
export async function startMonitoring({ env, run, compose }: ComposeProject, base: string) {
  const port = await findFreePort();
  env['PROMETHEUS_PORT'] = String(port);
  env['PROMETHEUS_IMAGE'] = `floodgate-test-prometheus:${randomBytes(4).toString('hex')}`;
  await using directory = await temporaryDirectory();
  await copyFile('/usr/bin/prometheus', directory.file('prometheus'));
  await writeFile(directory.file('Dockerfile'), dockerfileFrom(base));
  await run('docker', 'build', '--tag', env['PROMETHEUS_IMAGE'], directory.path);
  onTestFinished(async () => {
    await compose('rm', '--stop', '--force', 'prometheus');
    await run('docker', 'image', 'rm', env['PROMETHEUS_IMAGE']!);
  });
  await compose('up', '-d', '--no-deps', 'prometheus');
  const baseUrl = `http://127.0.0.1:${port}`;
  await waitUntil('Prometheus is ready', () =>
    fetch(`${baseUrl}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return queriesOf(baseUrl);
}

/** Returns the address of the metrics of each container that runs, by service. */
export async function addressesOf({ containersOf, inspect }: ComposeProject): Promise<string[]> {
  const format = '{{if .State.Running}}{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}{{end}}';
  const found = Object.entries(METRICS_PORTS).map(async ([service, port]) => {
    const addresses = (await inspect(await containersOf(service), format)).filter(Boolean);
    return addresses.map((address) => `floodgate-${service} ${address}:${port}`);
  });
  return (await Promise.all(found)).flat().toSorted();
}

/** Returns the targets that Prometheus has reached, in the form of `addressesOf`. Others have their error. */
export async function targetsOf(prometheus: Prometheus): Promise<string[]> {
  const targets = await prometheus.targets();
  return targets
    .map(({ labels, health, lastError }) =>
      [`${labels.job} ${labels.instance}`, health === 'up' ? '' : `${health} ${lastError}`].join(' ').trim(),
    )
    .toSorted();
}
