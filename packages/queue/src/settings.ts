import type { Logger } from '@floodgate/service';
import { whole } from '@floodgate/service/load-config';
import { FormatRegistry, Type } from '@sinclair/typebox';
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

const variableOf = ({ queue }: JobDefinition, field: Field) => `${queue.toUpperCase()}_${SETTINGS[field][0]}`;

const settingsOf = (jobs: readonly JobDefinition[], ...fields: Field[]) =>
  Object.fromEntries(
    jobs.flatMap((job) =>
      fields.map((field) => {
        const [, description, maximum] = SETTINGS[field];
        return [variableOf(job, field), whole(description, { minimum: 1, maximum, default: job[field] })];
      }),
    ),
  );

/** Returns `<QUEUE>_ATTEMPTS` and `<QUEUE>_BACKOFF_MS` of the jobs' queues. */
export const producerSettings = (jobs: readonly JobDefinition[]) => settingsOf(jobs, 'attempts', 'backoffMs');

/** Returns `<QUEUE>_CONCURRENCY` of the jobs' queues. */
export const consumerSettings = (jobs: readonly JobDefinition[]) => settingsOf(jobs, 'concurrency');

/** Returns the options of a producer or a consumer: settings replace the defaults of the jobs. */
export function queueOptions<Job extends JobDefinition>(
  config: { QUEUE_URL: string; QUEUE_NAMESPACE: string },
  jobs: readonly Job[],
  log: Pick<Logger, 'debug'>,
) {
  const configured = (job: Job): Job => {
    const fields = (Object.keys(SETTINGS) as Field[]).map((field) => {
      return [field, Reflect.get(config, variableOf(job, field)) ?? job[field]];
    });
    return { ...job, ...Object.fromEntries(fields) };
  };
  return {
    target: parseQueueUrl(config.QUEUE_URL),
    namespace: config.QUEUE_NAMESPACE,
    jobs: jobs.map(configured),
    onError: (err: Error) => log.debug({ err }, 'queue connection'),
  };
}
