import type { Logger } from '@floodgate/service';
import { whole } from '@floodgate/service/load-config';
import { FormatRegistry, Type, type TInteger } from '@sinclair/typebox';
import type { JobDefinition } from './jobs.ts';
import { parseQueueUrl, QUEUE_URL_FORMS, readQueueUrl } from './queue-url.ts';

FormatRegistry.Set('queue-url', (text) => readQueueUrl(text) !== null);

/** Settings of every process that uses the queue. */
export const queueSettings = {
  QUEUE_URL: Type.String({ format: 'queue-url', description: `the queue: ${QUEUE_URL_FORMS}` }),
  QUEUE_NAMESPACE: Type.String({
    pattern: '^[a-z][a-z0-9_]{0,39}$',
    default: 'floodgate',
    description: 'separates installations that share a queue server: a–z, 0–9 and _, starting with a letter',
  }),
};

const SETTINGS = {
  attempts: ['ATTEMPTS', 'attempts before a job fails for good', 50],
  backoffMs: ['BACKOFF_MS', 'delay before the second attempt; doubles each time', 60_000],
  concurrency: ['CONCURRENCY', 'jobs at once', 1_000],
} as const;
type Field = keyof typeof SETTINGS;

/** Returns `<QUEUE>_ATTEMPTS` and `<QUEUE>_BACKOFF_MS` of every queue that the jobs are in. */
export const producerSettings = (jobs: readonly JobDefinition[]) =>
  settingsOf(jobs, ['attempts', 'backoffMs']);

/** Returns `<QUEUE>_CONCURRENCY` of every queue that the jobs are in. */
export const consumerSettings = (jobs: readonly JobDefinition[]) => settingsOf(jobs, ['concurrency']);

/** Throws if the definitions of one queue do not agree: a setting has one default. */
function settingsOf(jobs: readonly JobDefinition[], fields: readonly Field[]): Record<string, TInteger> {
  const settings: Record<string, TInteger> = {};
  for (const job of jobs)
    for (const field of fields) {
      const variable = variableOf(job, field);
      const [, description, maximum] = SETTINGS[field];
      settings[variable] ??= whole(description, { minimum: 1, maximum, default: job[field] });
      if (settings[variable].default !== job[field])
        throw new Error(`jobs of one queue differ in ${variable}`);
    }
  return settings;
}

const variableOf = ({ queue }: JobDefinition, field: Field) => `${queue.toUpperCase()}_${SETTINGS[field][0]}`;

/** Returns the options of a producer or a consumer: settings replace the defaults of the jobs. */
export function queueOptions<Job extends JobDefinition>(
  config: { QUEUE_URL: string; QUEUE_NAMESPACE: string },
  jobs: readonly Job[],
  log: Pick<Logger, 'debug'>,
) {
  const read = (job: Job, field: Field): number =>
    (Reflect.get(config, variableOf(job, field)) as number | undefined) ?? job[field];
  return {
    target: parseQueueUrl(config.QUEUE_URL),
    namespace: config.QUEUE_NAMESPACE,
    jobs: jobs.map((job) => ({
      ...job,
      attempts: read(job, 'attempts'),
      backoffMs: read(job, 'backoffMs'),
      concurrency: read(job, 'concurrency'),
    })),
    onError: (err: Error) => log.debug({ err }, 'queue connection'),
  };
}
