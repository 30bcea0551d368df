import { whole } from '@floodgate/service/load-config';
import { FormatRegistry, Type, type TInteger } from '@sinclair/typebox';
import type { JobDefinition } from './define-job.ts';
import { QUEUE_URL_FORMS, readQueueUrl } from './queue-url.ts';

FormatRegistry.Set('queue-url', (text) => readQueueUrl(text) !== null);

/** What every process that uses the queue reads from its environment. */
export const queueSettings = {
  QUEUE_URL: Type.String({
    format: 'queue-url',
    description: `the queue: ${QUEUE_URL_FORMS}`,
  }),
  QUEUE_NAMESPACE: Type.String({
    pattern: '^[a-z][a-z0-9_]{0,39}$',
    default: 'floodgate',
    description: 'separates installations that share a queue server: a–z, 0–9 and _, starting with a letter',
  }),
};

/** Settings by the variables that they are read from. */
type Variables<Jobs extends readonly JobDefinition[], Setting extends string> = {
  [Variable in `${Uppercase<Jobs[number]['queue']>}_${Setting}`]: TInteger;
};

/** Returns `<QUEUE>_ATTEMPTS` and `<QUEUE>_BACKOFF_MS` of every queue that the jobs are in. */
export function producerSettings<const Jobs extends readonly JobDefinition[]>(jobs: Jobs) {
  return variablesOf(jobs, ({ attempts, backoffMs }) => ({
    ATTEMPTS: whole('attempts before a job is given up', { minimum: 1, maximum: 50, default: attempts }),
    BACKOFF_MS: whole('wait before the second attempt; doubles each time', {
      minimum: 1,
      maximum: 60_000,
      default: backoffMs,
    }),
  }));
}

/** Returns `<QUEUE>_CONCURRENCY` of every queue that the jobs are in. */
export function consumerSettings<const Jobs extends readonly JobDefinition[]>(jobs: Jobs) {
  return variablesOf(jobs, ({ concurrency }) => ({
    CONCURRENCY: whole('jobs at once', { minimum: 1, maximum: 1_000, default: concurrency }),
  }));
}

/** Throws where the definitions of one queue do not agree: a setting has one default. */
function variablesOf<Jobs extends readonly JobDefinition[], Setting extends string>(
  jobs: Jobs,
  settingsOf: (job: JobDefinition) => Record<Setting, TInteger>,
): Variables<Jobs, Setting> {
  const variables: Record<string, TInteger> = {};
  for (const job of jobs) {
    for (const [name, setting] of Object.entries<TInteger>(settingsOf(job))) {
      const variable = variableOf(job.queue, name);
      const { default: chosen } = (variables[variable] ??= setting);
      if (chosen !== setting.default) throw new Error(`jobs of one queue differ in ${variable}`);
    }
  }
  return variables as Variables<Jobs, Setting>;
}

/** Returns the job with what the settings of its queue say in place of its defaults. */
export function withSettings(job: JobDefinition, config: object): JobDefinition {
  const read = (setting: string) => Reflect.get(config, variableOf(job.queue, setting)) as number | undefined;
  return {
    ...job,
    attempts: read('ATTEMPTS') ?? job.attempts,
    backoffMs: read('BACKOFF_MS') ?? job.backoffMs,
    concurrency: read('CONCURRENCY') ?? job.concurrency,
  };
}

const variableOf = (queue: string, setting: string) => `${queue.toUpperCase()}_${setting}`;
