import type { Logger } from '@floodgate/service';
import type { JobDefinition } from './define-job.ts';
import { Producer } from './producer.ts';
import { parseQueueUrl } from './queue-url.ts';
import { withSettings } from './settings.ts';

/** Opens the producer of these jobs that the settings describe. A queue that is down is not an error. */
export function openProducer(
  config: { QUEUE_URL: string; QUEUE_NAMESPACE: string },
  jobs: readonly JobDefinition[],
  log: Logger,
): Producer {
  return new Producer({
    target: parseQueueUrl(config.QUEUE_URL),
    namespace: config.QUEUE_NAMESPACE,
    jobs: jobs.map((job) => withSettings(job, config)),
    onError: (err) => log.debug({ err }, 'queue connection'),
  });
}
