import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { findFreePort } from './free-port.ts';
import { temporaryDirectory } from './temporary-directory.ts';
import { waitUntil } from './wait-until.ts';

const FOLDER = new URL('../../docker/prometheus/', import.meta.url);

/** Returns the path of a file in docker/prometheus. */
export const prometheusFile = (name: string) => fileURLToPath(new URL(name, FOLDER));

/** Whether this machine has Prometheus and its promtool. */
export const hasPrometheus = ['prometheus', 'promtool'].every(
  (name) => spawnSync(name, ['--version']).status === 0,
);

/** The reason to skip tests for their title, or ''. In CI nothing is skipped: without Prometheus the tests fail. */
export const withoutPrometheus =
  hasPrometheus || process.env['CI'] ? '' : ' (skipped: no prometheus or promtool on the PATH)';

export interface Job {
  job_name: string;
  dns_sd_configs: [{ names: [string]; type: 'A'; port: number }];
}

interface Config {
  scrape_configs: Job[];
}

const readConfig = () => parse(readFileSync(prometheusFile('prometheus.yml'), 'utf8')) as Config;

/** Returns the jobs of docker/prometheus/prometheus.yml. */
export const readJobs = () => readConfig().scrape_configs;

export interface Alert {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}

/** Returns the alerts of docker/prometheus/rules.yml. */
export function readAlerts(): Alert[] {
  const file = readFileSync(prometheusFile('rules.yml'), 'utf8');
  const { groups } = parse(file) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

interface Dashboard {
  title: string;
  panels: { title: string; targets: { expr: string }[] }[];
}

const DASHBOARDS = new URL('../../docker/grafana/dashboards/', import.meta.url);

/** Returns the expressions of all panels of the dashboards in docker/grafana. */
export function dashboardExpressions(): { name: string; query: string }[] {
  return readdirSync(DASHBOARDS).flatMap((file) => {
    const { title, panels } = JSON.parse(readFileSync(new URL(file, DASHBOARDS), 'utf8')) as Dashboard;
    return panels.flatMap((panel) =>
      panel.targets.map(({ expr }) => ({ name: `${title}, ${panel.title}`, query: expr })),
    );
  });
}

/** Longer than the API waits for a connection: a scrape while all are busy must not time out. */
const INTERVAL = '2s';

/** Returns the configuration of docker/prometheus with these targets in place of those that Docker's DNS finds. */
function configFor(targets: Record<string, string[]>): object {
  const { scrape_configs: jobs, ...config } = readConfig();
  return {
    ...config,
    global: { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: '1s' },
    rule_files: [prometheusFile('rules.yml')],
    scrape_configs: jobs.map(({ dns_sd_configs: _found, ...job }) => ({
      ...job,
      static_configs: [{ targets: targets[job.job_name] }],
    })),
  };
}

/** A rule as Prometheus has read it. */
export interface Rule {
  name: string;
  query: string;
  health: 'ok' | 'err' | 'unknown';
  lastError?: string;
}

interface Series {
  metric: Record<string, string>;
  values: [time: number, value: string][];
}

export type Prometheus = ReturnType<typeof queriesOf>;

/** A target as Prometheus scrapes it. */
export interface Target {
  labels: { job: string; instance: string };
  health: 'up' | 'down' | 'unknown';
  lastError: string;
}

/** Returns what tests ask a Prometheus that runs. */
export function queriesOf(baseUrl: string) {
  const get = async <Data>(path: string, params: Record<string, string> = {}): Promise<Data> => {
    const response = await fetch(`${baseUrl}/api/v1/${path}?${String(new URLSearchParams(params))}`);
    const { data, error } = (await response.json()) as { data: Data; error?: string };
    if (error) throw new Error(`${params['query']}: ${error}`);
    return data;
  };

  const startedAt = Date.now();
  return {
    /** Returns all values that an expression has had so far, except those that are not numbers. */
    async history(query: string): Promise<number[]> {
      const [start, end] = [startedAt, Date.now()].map((ms) => String(ms / 1_000)) as [string, string];
      const found = await get<{ result: Series[] }>('query_range', { query, start, end, step: '1' });
      return found.result.flatMap(({ values }) => values.map(([, value]) => Number(value))).filter(isFinite);
    },
    async rules(): Promise<Rule[]> {
      const { groups } = await get<{ groups: { rules: Rule[] }[] }>('rules');
      return groups.flatMap(({ rules }) => rules);
    },
    async targets(): Promise<Target[]> {
      return (await get<{ activeTargets: Target[] }>('targets', { state: 'active' })).activeTargets;
    },
  };
}

/** Starts a Prometheus that scrapes these targets by job, with the rules of docker/prometheus. Stops after the test. */
export async function startPrometheus(targets: Record<string, string[]>) {
  const directory = await temporaryDirectory();
  await writeFile(directory.file('prometheus.yml'), JSON.stringify(configFor(targets)));
  const port = await findFreePort();
  const child = spawn(
    'prometheus',
    [
      `--config.file=${directory.file('prometheus.yml')}`,
      `--storage.tsdb.path=${directory.file('data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exited = once(child, 'exit');
  let log = '';
  child.stderr.on('data', (chunk) => (log += String(chunk)));
  onTestFinished(async () => {
    child.kill();
    await exited;
    await directory[Symbol.asyncDispose]();
  });

  await waitUntil('Prometheus is ready', async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended: ${log}`);
    return fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  return queriesOf(`http://127.0.0.1:${port}`);
}
