import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ServiceName } from '@floodgate/database';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IContainer, IPodSpec } from 'kubernetes-models/v1';
import { parseAllDocuments } from 'yaml';

const FOLDER = new URL('../../docker/kubernetes/', import.meta.url);

/** Folders that can be applied. */
export const FOLDERS = ['base', 'hpa', 'keda', 'overlays/production'] as const;

const hasKubectl = spawnSync('kubectl', ['kustomize', '--help']).status === 0;

/** The reason to skip tests for their title, or ''. In CI nothing is skipped: without kubectl the tests fail. */
export const withoutKubectl =
  hasKubectl || process.env['CI'] ? '' : ' (skipped: no kubectl with kustomize on the PATH)';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  spec?: unknown;
  data?: Record<string, string>;
}

/** Returns the objects of a YAML file or text. */
function parseManifests(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors[0]) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}

/** Returns the objects of a file below docker/kubernetes. */
export const readManifests = (file: string) => parseManifests(readFileSync(new URL(file, FOLDER), 'utf8'));

/** Returns the objects that `kubectl apply -k` would apply. */
export function render(folder: (typeof FOLDERS)[number]): Manifest[] {
  const path = fileURLToPath(new URL(folder, FOLDER));
  const { status, stdout, stderr, error } = spawnSync('kubectl', ['kustomize', path], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`kubectl kustomize ${folder}: ${error?.message ?? stderr}`);
  return parseManifests(stdout);
}

export const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.name}`;

export type Workload = Manifest & Required<Pick<IDeployment, 'spec'>>;

export const ofKind = (objects: Manifest[], ...kinds: string[]) =>
  objects.filter(({ kind }) => kinds.includes(kind));

/** Returns the Deployments of the services: without that of the operator's command. */
export const deploymentsOf = (objects: Manifest[]) =>
  ofKind(objects, 'Deployment').filter(({ metadata }) => metadata.name !== 'cli') as Workload[];

/** Returns all Deployments and Jobs. */
export const workloadsOf = (objects: Manifest[]) => ofKind(objects, 'Deployment', 'Job') as Workload[];

/** Returns the service that a Deployment runs. */
export const serviceOf = ({ metadata }: Workload) => metadata.name as ServiceName;

/** Returns the pods and the only container of a Deployment or Job. */
export function podOf({ spec }: Workload): { pod: IPodSpec; container: IContainer; labels: Labels } {
  const { metadata, spec: pod } = spec.template;
  const [container, ...others] = [...pod!.containers, ...(pod!.initContainers ?? [])];
  if (others.length > 0) throw new Error('only pods with one container are expected');
  return { pod: pod!, container: container!, labels: metadata!.labels! };
}

export type Labels = Record<string, string>;

interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface Selector {
  matchLabels?: Labels;
  matchExpressions?: Requirement[];
}

/** Returns whether a selector with labels and `In` expressions matches these labels. */
export function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      if (operator !== 'In') throw new Error(`operator ${operator} is not expected`);
      return values.includes(labels[key] ?? '');
    })
  );
}

/** Returns the variables of a container. A reference to a Secret has the text `secret`. */
export function environmentOf(container: IContainer, objects: Manifest[]): Record<string, string> {
  const shared = (container.envFrom ?? []).map(({ configMapRef }) => {
    const map = objects.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === configMapRef?.name,
    );
    if (!map) throw new Error(`ConfigMap ${configMapRef?.name} does not exist`);
    return map.data!;
  });
  const own = (container.env ?? []).map(({ name, value }) => [name, value ?? 'secret'] as const);
  return Object.assign({}, ...shared, Object.fromEntries(own)) as Record<string, string>;
}

/** Returns every field with this name, at any depth. */
export function fieldsNamed(name: string, value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(key === name ? [inner] : []),
    ...fieldsNamed(name, inner),
  ]);
}
