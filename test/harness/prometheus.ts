import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
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

export type Prometheus = Awaited<ReturnType<typeof startPrometheus>>;

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

  const get = async <Data>(path: string, params: Record<string, string> = {}): Promise<Data> => {
    const response = await fetch(
      `http://127.0.0.1:${port}/api/v1/${path}?${String(new URLSearchParams(params))}`,
    );
    const { data, error } = (await response.json()) as { data: Data; error?: string };
    if (error) throw new Error(`${params['query']}: ${error}`);
    return data;
  };

  await waitUntil('Prometheus is ready', async () => {
    if (child.exitCode !== null) throw new Error(`Prometheus ended: ${log}`);
    return fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
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
  };
}
