import { readFileSync } from 'node:fs';
import { ApiConfig } from '@floodgate/api/config';
import { ConsoleConfig } from '@floodgate/console';
import { SERVICES, type ServiceName } from '@floodgate/database';
import { DeliveryConfig } from '@floodgate/delivery';
import { loadConfig } from '@floodgate/service';
import { WorkerConfig } from '@floodgate/worker/config';
import type { IHTTPGetAction, IProbe } from 'kubernetes-models/v1';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { unknownFields, violations } from './kubernetes-schemas.ts';
import {
  deploymentsOf,
  environmentOf,
  FOLDERS,
  nameOf,
  ofKind,
  podOf,
  render,
  selects,
  serviceOf,
  withoutKubectl,
  workloadsOf,
  type Labels,
  type Manifest,
  type Selector,
  type Workload,
} from './manifests.ts';

// The manifests in docker/kubernetes, as kubectl renders them. Autoscalers and networks have tests of their own.

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');

const CONFIGS = { api: ApiConfig, worker: WorkerConfig, delivery: DeliveryConfig, console: ConsoleConfig };

/** Variables that carry a secret, with a valid value. */
const SECRETS: Record<string, string> = {
  DATABASE_URL: 'postgres://floodgate@postgres.example.com/floodgate',
  QUEUE_URL: 'redis://redis.example.com:6379',
  SMTP_URL: 'smtp://smtp.example.com:25',
  OIDC_CLIENT_SECRET: 'none',
};

/** Returns the settings of a Deployment as its process loads them: with its rules and defaults. */
function settingsOf(deployment: Workload, objects: Manifest[]): Record<string, unknown> {
  const env = { ...environmentOf(podOf(deployment).container, objects) };
  for (const name of Object.keys(env)) env[name] = env[name] === 'secret' ? SECRETS[name]! : env[name]!;
  return loadConfig(CONFIGS[serviceOf(deployment)], env) as Record<string, unknown>;
}

const seconds = (command: string[]) => (command[0] === 'sleep' ? Number(command[1]) : Number.NaN);

/** Returns bytes or cores. */
function quantity(text: unknown): number {
  const [, number, unit = ''] = /^([\d.]+)(m|Mi|Gi)?$/.exec(String(text)) ?? [];
  return Number(number) * { '': 1, m: 0.001, Mi: 2 ** 20, Gi: 2 ** 30 }[unit as '' | 'm' | 'Mi' | 'Gi'];
}

const byName = (workloads: Workload[]) => workloads.map((one) => [nameOf(one), one] as const);

describe.skipIf(withoutKubectl !== '')(`docker/kubernetes${withoutKubectl}`, () => {
  const rendered = Object.fromEntries(
    FOLDERS.map((folder) => [folder, withoutKubectl ? [] : render(folder)]),
  );

  test('no object has a field that Kubernetes or KEDA does not know', () => {
    expect(unknownFields(Object.values(rendered).flat())).toEqual([]);
    const misspelled = structuredClone(deploymentsOf(rendered['base']!)[0]!);
    Object.assign(podOf(misspelled).container, { redinessProbe: {} });
    expect(unknownFields([misspelled])).toEqual([expect.stringContaining('redinessProbe')]);
  });

  test('the folders use only what kubectl 1.20 and the current one have', () => {
    const known = [
      'apiVersion',
      'kind',
      'namespace',
      'bases',
      'resources',
      'images',
      'configMapGenerator',
      'generatorOptions',
      'patchesStrategicMerge',
      'patchesJson6902',
    ];
    for (const folder of FOLDERS) {
      const kustomization = parse(read(`docker/kubernetes/${folder}/kustomization.yaml`)) as object;
      expect(known).toEqual(expect.arrayContaining(Object.keys(kustomization)));
    }
  });

  describe.each(FOLDERS)('%s', (folder) => {
    const objects = rendered[folder]!;
    const deployments = deploymentsOf(objects);
    const workloads = workloadsOf(objects);
    const allLabels = workloads.map((one) => podOf(one).labels);

    test('every object obeys the schema of its kind', async () => {
      expect((await Promise.all(objects.map(violations))).flat()).toEqual([]);
    });

    test('there is one Deployment for each service', () => {
      expect(deployments.map(serviceOf).toSorted()).toEqual([...SERVICES].toSorted());
    });

    test('there is no Secret and no password', () => {
      expect(ofKind(objects, 'Secret')).toEqual([]);
      for (const object of objects) expect(JSON.stringify(object)).not.toMatch(/:\/\/[^/"\s]*@/);
      for (const workload of workloads)
        for (const { name, value } of podOf(workload).container.env ?? [])
          expect({ name, value }).toEqual({ name, value: SECRETS[name] ? undefined : expect.any(String) });
      for (const { data } of ofKind(objects, 'ConfigMap'))
        expect(Object.keys(data!).filter((name) => SECRETS[name])).toEqual([]);
    });

    test.for(byName(workloads))('%s cannot gain privileges', ([, workload]) => {
      const { pod, container } = podOf(workload);
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      });
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    });

    test.for(byName(workloads))(
      '%s requests CPU and memory, and its memory is limited',
      ([name, workload]) => {
        const { requests, limits } = podOf(workload).container.resources!;
        expect(quantity(requests!['cpu'])).toBeGreaterThan(0);
        expect(quantity(limits!['memory'])).toBeGreaterThan(quantity(requests!['memory']));
        // Only a process that is not throttled answers in time.
        expect(limits).not.toHaveProperty('cpu');
        // On a full node delivery gets the rest.
        if (name !== 'Deployment delivery') expect(quantity(requests!['cpu'])).toBeGreaterThan(0.032);
      },
    );

    test.for(byName(deployments))('%s is spread, and nodes are drained one at a time', ([, deployment]) => {
      const { pod, labels } = podOf(deployment);
      expect(selects(deployment.spec.selector, labels)).toBe(true);
      const constraints = pod.topologySpreadConstraints!;
      const keys = constraints.map(({ topologyKey }) => topologyKey);
      expect(keys).toEqual(['kubernetes.io/hostname', 'topology.kubernetes.io/zone']);
      for (const { labelSelector } of constraints)
        expect(allLabels.filter((one) => selects(labelSelector as Selector, one))).toEqual([labels]);
      const budgets = ofKind(objects, 'PodDisruptionBudget').filter(({ spec }) =>
        selects((spec as { selector: Selector }).selector, labels),
      );
      expect(budgets).toMatchObject([{ spec: { maxUnavailable: 1 } }]);
      expect(deployment.spec.strategy).toEqual({ rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } });
    });

    test.for(byName(deployments))('%s has valid settings, and the ports that they say', ([, deployment]) => {
      const { container } = podOf(deployment);
      const settings = settingsOf(deployment, objects);
      const expected: Record<ServiceName, object> = {
        api: { http: settings['PORT'], metrics: settings['METRICS_PORT'] },
        worker: { metrics: settings['WORKER_PORT'] },
        delivery: { metrics: settings['DELIVERY_PORT'] },
        console: { http: settings['CONSOLE_PORT'], metrics: settings['METRICS_PORT'] },
      };
      const ports = container.ports!.map(({ name, containerPort }) => [name, containerPort]);
      expect(Object.fromEntries(ports)).toEqual(expected[serviceOf(deployment)]);
      expect(container.command).toEqual([serviceOf(deployment)]);
      // Other pods can connect.
      const host =
        settings['HOST'] ?? settings['WORKER_HOST'] ?? settings['DELIVERY_HOST'] ?? settings['CONSOLE_HOST'];
      expect(host).toBe('0.0.0.0');
    });

    test.for(byName(deployments))('%s is probed at its health port', ([, deployment]) => {
      const { container } = podOf(deployment);
      const port = container.ports![0]!.name!;
      const get = (path: string) => ({ httpGet: { path, port } satisfies IHTTPGetAction });
      expect(container.startupProbe).toMatchObject(get('/health/live'));
      expect(container.livenessProbe).toMatchObject(get('/health/live'));
      expect(container.readinessProbe).toMatchObject(get('/health/ready'));
      const { periodSeconds, failureThreshold } = container.startupProbe as Required<IProbe>;
      expect(periodSeconds * failureThreshold).toBeGreaterThanOrEqual(60);
    });

    test.for(byName(deployments))('%s has time to stop in order', ([, deployment]) => {
      const { pod, container } = podOf(deployment);
      const settings = settingsOf(deployment, objects) as { SHUTDOWN_TIMEOUT_MS: number; DRAIN_MS?: number };
      const preStop = container.lifecycle?.preStop?.exec?.command;
      const isCalled = ofKind(objects, 'Service').some(({ spec }) =>
        selects({ matchLabels: (spec as { selector: Labels }).selector }, podOf(deployment).labels),
      );
      // Only a pod that is called has to wait until nobody sends it new connections.
      expect(preStop !== undefined).toBe(isCalled);
      const waitMs = preStop ? seconds(preStop) * 1_000 : 0;
      expect(pod.terminationGracePeriodSeconds! * 1_000).toBeGreaterThan(
        waitMs + settings.SHUTDOWN_TIMEOUT_MS,
      );
      expect(settings.DRAIN_MS ?? 0).toBeLessThan(settings.SHUTDOWN_TIMEOUT_MS);
    });

    test('every variable is a documented setting', () => {
      const documented = [...read('apps/docs/reference/settings.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(
        ([, name]) => name!,
      );
      const used = workloads.flatMap((one) => Object.keys(environmentOf(podOf(one).container, objects)));
      expect(used.filter((name) => !documented.includes(name))).toEqual([]);
    });

    test('the migration grants every service its privileges', () => {
      const [, , script] = podOf(workloads.find(({ kind }) => kind === 'Job')!).container.command!;
      expect(script!.trim().split(' &&\n')).toEqual([
        'floodgate migrate --wait 60',
        ...SERVICES.map((service) => `floodgate grant ${service} floodgate_${service}`),
      ]);
    });

    test('each pod gets only its own Secrets', () => {
      const secretsOf = (one: Workload) =>
        (podOf(one).container.env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []);
      const mine = Object.fromEntries(workloads.map((one) => [one.metadata.name, secretsOf(one)]));
      expect(mine).toEqual({
        api: ['floodgate-api', 'floodgate-queue'],
        worker: ['floodgate-worker', 'floodgate-queue'],
        delivery: ['floodgate-delivery', 'floodgate-smtp'],
        console: ['floodgate-console', 'floodgate-smtp', 'floodgate-oidc'],
        migrate: ['floodgate-owner', 'floodgate-queue'],
        cli: ['floodgate-owner', 'floodgate-queue', 'floodgate-smtp'],
      });
    });
  });

  test('production puts every object into its namespace and every image under its name', () => {
    const objects = rendered['overlays/production']!;
    const namespaced = objects.filter(({ kind }) => kind !== 'Namespace');
    expect(new Set(namespaced.map(({ metadata }) => metadata.namespace))).toEqual(new Set(['floodgate']));
    expect(new Set(workloadsOf(objects).map((one) => podOf(one).container.image))).toEqual(
      new Set(['registry.example.com/floodgate:0.1.0']),
    );
  });
});
