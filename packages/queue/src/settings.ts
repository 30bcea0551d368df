import type { Logger } from '@floodgate/service';
import { whole } from '@floodgate/service/load-config';
import { FormatRegistry, Type, type TInteger } from '@sinclair/typebox';
import type { JobDefinition } from './jobs.ts';
import { parseQueueUrl, QUEUE_URL_FORMS, readQueueUrl } from './queue-url.ts';

FormatRegistry.Set('queue-url', (text) => readQueueUrl(text) !== null);

/** What every process that uses the queue reads from its environment. */
export const queueSettings = {
  QUEUE_URL: Type.String({ format: 'queue-url', description: `the queue: ${QUEUE_URL_FORMS}` }),
  QUEUE_NAMESPACE: Type.String({
    pattern: '^[a-z][a-z0-9_]{0,39}$',
    default: 'floodgate',
    description: 'separates installations that share a queue server: a–z, 0–9 and _, starting with a letter',
  }),
};

/** Returns `<QUEUE>_ATTEMPTS` and `<QUEUE>_BACKOFF_MS` of every queue that the jobs are in. */
export function producerSettings(jobs: readonly JobDefinition[]) {
  return settingsOf(jobs, ({ attempts, backoffMs }) => ({
    ATTEMPTS: whole('attempts before a job is given up', { minimum: 1, maximum: 50, default: attempts }),
    BACKOFF_MS: whole('wait before the second attempt; doubles each time', {
      minimum: 1,
      maximum: 60_000,
      default: backoffMs,
    }),
  }));
}

/** Returns `<QUEUE>_CONCURRENCY` of every queue that the jobs are in. */
export function consumerSettings(jobs: readonly JobDefinition[]) {
  return settingsOf(jobs, ({ concurrency }) => ({
    CONCURRENCY: whole('jobs at once', { minimum: 1, maximum: 1_000, default: concurrency }),
  }));
}

/** Throws where the definitions of one queue do not agree: a setting has one default. */
function settingsOf(jobs: readonly JobDefinition[], read: (job: JobDefinition) => Record<string, TInteger>) {
  const settings: Record<string, TInteger> = {};
  for (const job of jobs) {
    for (const [name, setting] of Object.entries(read(job))) {
      const variable = variableOf(job, name);
      const { default: chosen } = (settings[variable] ??= setting);
      if (chosen !== setting.default) throw new Error(`jobs of one queue differ in ${variable}`);
    }
  }
  return settings;
}

const variableOf = ({ queue }: JobDefinition, setting: string) => `${queue.toUpperCase()}_${setting}`;

/** Returns what a producer or a consumer is opened with, its jobs with what the settings say in place of defaults. */
export function queueOptions<Job extends JobDefinition>(
  config: { QUEUE_URL: string; QUEUE_NAMESPACE: string },
  jobs: readonly Job[],
  log: Pick<Logger, 'debug'>,
) {
  const read = (job: Job, setting: string) =>
    Reflect.get(config, variableOf(job, setting)) as number | undefined;
  const withSettings = (job: Job) => ({
    ...job,
    attempts: read(job, 'ATTEMPTS') ?? job.attempts,
    backoffMs: read(job, 'BACKOFF_MS') ?? job.backoffMs,
    concurrency: read(job, 'CONCURRENCY') ?? job.concurrency,
  });
  return {
    target: parseQueueUrl(config.QUEUE_URL),
    namespace: config.QUEUE_NAMESPACE,
    jobs: jobs.map(withSettings),
    onError: (err: Error) => log.debug({ err }, 'queue connection'),
  };
}
