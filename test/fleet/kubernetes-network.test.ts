import type { IIngress } from 'kubernetes-models/networking.k8s.io/v1';
import { describe, expect, test } from 'vitest';
import {
  fieldsNamed,
  FOLDERS,
  ofKind,
  podOf,
  render,
  selects,
  withoutKubectl,
  workloadsOf,
  type Labels,
  type Manifest,
  type Selector,
} from './manifests.ts';

// The Services, the Ingress and the network policies in docker/kubernetes.

describe.skipIf(withoutKubectl !== '').each(FOLDERS)(`%s${withoutKubectl}`, (folder) => {
  const objects = withoutKubectl ? [] : render(folder);
  const workloads = workloadsOf(objects);
  const allLabels = workloads.map((one) => podOf(one).labels);

  test('Services, the Ingress and network policies reach ports that exist', () => {
    const named = (labels: Selector) =>
      workloads
        .filter((one) => selects(labels, podOf(one).labels))
        .flatMap((one) => podOf(one).container.ports ?? [])
        .map(({ name }) => name);
    for (const { spec } of ofKind(objects, 'Service')) {
      const { selector, ports } = spec as { selector: Labels; ports: { targetPort: string }[] };
      for (const { targetPort } of ports) expect(named({ matchLabels: selector })).toContain(targetPort);
    }
    for (const { spec } of ofKind(objects, 'NetworkPolicy')) {
      const { podSelector, ingress = [] } = spec as { podSelector: Selector; ingress?: object[] };
      expect(allLabels.some((labels) => selects(podSelector, labels))).toBe(true);
      const ports = fieldsNamed('port', ingress).filter((port) => typeof port === 'string');
      for (const port of ports) expect(named(podSelector)).toContain(port);
    }
    for (const ingress of ofKind(objects, 'Ingress') as (Manifest & IIngress)[]) {
      const backends = ingress.spec!.rules!.flatMap((rule) => rule.http!.paths.map(({ backend }) => backend));
      for (const { service } of backends) {
        const target = ofKind(objects, 'Service').find(({ metadata }) => metadata.name === service!.name);
        expect(target!.spec).toMatchObject({ ports: [{ name: service!.port!.name }] });
      }
    }
  });

  test('network policies allow only what is listed', () => {
    const policies = ofKind(objects, 'NetworkPolicy');
    expect(policies.find(({ metadata }) => metadata.name === 'deny-all')!.spec).toEqual({
      podSelector: {},
      policyTypes: ['Ingress', 'Egress'],
    });
    const policiesFrom = (type: string, labels: Labels) =>
      policies
        .filter(({ spec }) => type in (spec as object))
        .filter(({ spec }) => selects((spec as { podSelector: Selector }).podSelector, labels))
        .map(({ metadata }) => metadata.name)
        .toSorted();
    const allowed = Object.fromEntries(
      workloads.map((one) => {
        const { labels } = podOf(one);
        return [
          one.metadata.name,
          { in: policiesFrom('ingress', labels), out: policiesFrom('egress', labels) },
        ];
      }),
    );
    const all = ['all-to-collector', 'all-to-dns', 'all-to-postgres'];
    expect(allowed).toEqual({
      api: { in: ['partners-to-api', 'prometheus-to-metrics'], out: [...all, 'queue-to-redis'] },
      worker: { in: ['prometheus-to-metrics'], out: [...all, 'queue-to-redis'] },
      delivery: { in: ['prometheus-to-metrics'], out: [...all, 'delivery-to-internet', 'mail-to-smtp'] },
      console: {
        in: ['prometheus-to-metrics'],
        out: [...all, 'console-to-identity-provider', 'mail-to-smtp'],
      },
      migrate: { in: ['prometheus-to-metrics'], out: [...all, 'queue-to-redis'] },
      cli: { in: ['prometheus-to-metrics'], out: [...all, 'mail-to-smtp', 'queue-to-redis'] },
    });
  });
});

test.skipIf(withoutKubectl !== '')('production allows Postgres and Redis at their addresses only', () => {
  const servers = ofKind(render('overlays/production'), 'NetworkPolicy').filter(({ metadata }) =>
    /postgres|redis/.test(metadata.name),
  );
  expect(servers.map(({ spec }) => fieldsNamed('to', spec).length)).toEqual([1, 1]);
  expect(fieldsNamed('cidr', servers)).toEqual(['10.20.0.0/28', '10.20.0.16/28']);
});
