/** The findings about the installation, and the page about them. */
export const health = {
  title: 'Health',
  about: 'What runs, what waits, and what has failed.',
  fine: 'Everything works.',
  attention: (count: number) =>
    count === 1 ? 'One thing needs attention.' : `${count} things need attention.`,
  unknown: 'The state is not known yet. Load the page again in a few seconds.',
  stateFine: 'Fine',
  stateAttention: 'Attention',
  services: { api: 'API', worker: 'Worker', delivery: 'Delivery', console: 'Console' } as Record<
    string,
    string
  >,
  kinds: { mail: 'E-mails', webhook: 'Webhooks' } as Record<string, string>,
  /** In a sentence. */
  sentKinds: { mail: 'e-mails', webhook: 'webhooks' } as Record<string, string>,
  findings: {
    postgresDown:
      'Postgres does not answer. Nothing can be sold or changed; partners get the answer 90 and try again. ' +
      'What was sold is safe.',
    serviceMissing: {
      api: 'No API reports. Nothing can be sold.',
      worker: 'No worker reports. Nothing is lost: confirmations and e-mails wait.',
      delivery: 'No delivery process reports. Nothing is lost: e-mails and webhooks wait.',
    } as Record<string, string>,
    silentFor: (duration: string) => `The last one was silent for ${duration}.`,
    processLost: (service: string, host: string, duration: string) =>
      `${service} on ${host} has not reported for ${duration}. Others do its work.`,
    queueDown: 'The queue does not answer. Nothing is lost: confirmations come a little later.',
    queueUnsafe: 'The queue could lose jobs.',
    queueWithoutWorker: 'No worker is connected to the queue. Nothing is lost: confirmations wait.',
    batchesFailed: (count: number, text: string) =>
      count === 1
        ? 'One batch of registrations could not be confirmed. They keep their seats.'
        : `${text} batches of registrations could not be confirmed. They keep their seats.`,
    backlogOld: (age: string) => `Confirmations are late: the oldest has waited for ${age}.`,
    deliveriesOld: (kind: string, age: string) => `${kind} are late: the oldest has waited for ${age}.`,
    deliveriesFailing: (kind: string, failing: string, all: string) =>
      `${kind} fail for ${failing} of ${all} recipients of the journal.`,
    retriesOld: (kind: string, age: string) => `${kind}: the oldest has failed for ${age}.`,
    shardsAway: (shards: string) => `Parts of the database do not answer: the shards ${shards}.`,
    figuresUnknown: 'The console cannot read what waits.',
    devicesSilent: (count: number, text: string) =>
      count === 1
        ? 'A scanner of an open gate has had no contact for 5 minutes.'
        : `${text} scanners of open gates have had no contact for 5 minutes.`,
    scansWaiting: (duration: string) => `A scanner has had scans that did not arrive for ${duration}.`,
    doorConflicts: (count: number, text: string) =>
      count === 1
        ? 'One seat has let in two people within the last 15 minutes.'
        : `${text} seats have let in two people within the last 15 minutes.`,
  },
  processes: 'Processes',
  noProcesses: 'No process reports.',
  service: 'Service',
  host: 'Host',
  version: 'Version',
  since: 'Running since',
  state: 'State',
  reports: 'Reports',
  silent: (duration: string) => `Silent for ${duration}`,
  doing: 'Now',
  waitingCalls: (count: number, text: string) => (count === 1 ? '1 call waits' : `${text} calls wait`),
  queueUp: 'queue answers',
  queueIsDown: 'queue does not answer',
  sends: (kinds: string) => `sends ${kinds}`,
  backlog: 'What waits',
  nothingPending: 'All registrations are confirmed.',
  pending: (count: number, text: string, age: string): string =>
    count === 1
      ? `1 batch of registrations waits for confirmation, for ${age}.`
      : `${text} batches of registrations wait for confirmation, the oldest for ${age}.`,
  changesPending: (count: number, text: string): string =>
    count === 1 ? '1 change waits to be published.' : `${text} changes wait to be published.`,
  nothingBehind: (kind: string) => `${kind}: nothing waits.`,
  behind: (kind: string, behind: string, consumers: string) =>
    `${kind}: ${behind} of ${consumers} readers have something to send.`,
  oldest: (age: string) => `The oldest has waited for ${age}.`,
  oldestRetry: (age: string) => `The oldest failure lasts for ${age}.`,
  failedBatches: 'Batches that failed',
  noFailedBatches: 'No batch has failed.',
  failedBatchesAbout:
    'Their registrations keep their seats, and are not confirmed. Remove the cause, then let the worker try again.',
  failedAt: 'Failed',
  reason: 'Reason',
  remedy: 'What to do',
  registrations: 'Registrations',
  events: 'Events',
  redrive: 'Try again',
  redriveAll: 'Try all again',
  remedies: {
    privilege: 'The worker lacks a privilege. Run floodgate migrate, then try again.',
    missing: 'A table, column or function is missing. Run floodgate migrate, then try again.',
    timeout: 'Postgres was too slow. Look for locks and load, then try again.',
    space: 'Postgres has no space or memory left. Make room, then try again.',
    other: 'Look up the reason in the log of the worker, remove the cause, then try again.',
  },
  failing: 'E-mails and webhooks that fail',
  noFailing: 'Nothing fails.',
  event: 'Event',
  kind: 'Kind',
  attempts: 'Failed attempts',
  failingSince: 'Failing',
  disabled: 'Disabled',
  paused: 'Paused',
  retried: 'Tried again',
  ofEvent: (id: number) => `Event ${id}`,
};
