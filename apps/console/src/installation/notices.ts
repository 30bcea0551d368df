import { mayUse, textOf, type Finding, type FindingCode, type FindingTexts } from '@floodgate/operators';
import type { OperatorPrincipal } from '@floodgate/operators';
import type { Format } from '../view/format.ts';
import type { Notice } from '../view/page.ts';
import type { Viewer } from '../view/viewer.ts';
import type { Words } from '../words/index.ts';

const RUNBOOK = '/help/operate/runbook';

/** The findings for everybody at the console: the parts that are missing, without figures of other events. */
const OPEN: readonly FindingCode[] = ['postgresDown', 'serviceMissing', 'queueDown'];
const OF_DOORS: readonly FindingCode[] = ['devicesSilent', 'scansWaiting', 'doorConflicts'];

/** Returns the findings that a person may see. Null: nobody is signed in. */
export function findingsFor(operator: OperatorPrincipal | null, findings: readonly Finding[]) {
  if (!operator) return findings.filter(({ code }) => code === 'postgresDown');
  return findings.filter(
    ({ code }) =>
      OPEN.includes(code) || mayUse(operator, OF_DOORS.includes(code) ? 'door:read' : 'queue:read'),
  );
}

/** Returns findings in the words of a person, each with its entry of the runbook. */
export const noticesOf = (findings: readonly Finding[], { words, format }: Viewer): Notice[] =>
  findings.map((finding) => ({
    text: textOf(textsOf(words, format), finding),
    help: `${RUNBOOK}#${finding.runbook}`,
  }));

function textsOf({ health }: Words, format: Format): FindingTexts {
  const { findings: texts } = health;
  const kindOf = (kind: string) => health.kinds[kind] ?? kind;
  const serviceOf = (service: string) => health.services[service] ?? service;
  return {
    postgresDown: () => texts.postgresDown,
    serviceMissing: ({ service, silentMs }) =>
      [
        texts.serviceMissing[service] ?? serviceOf(service),
        silentMs !== null && texts.silentFor(format.duration(silentMs)),
      ]
        .filter(Boolean)
        .join(' '),
    processLost: ({ service, host, silentMs }) =>
      texts.processLost(serviceOf(service), host, format.duration(silentMs)),
    queueDown: () => texts.queueDown,
    queueUnsafe: () => texts.queueUnsafe,
    queueWithoutWorker: () => texts.queueWithoutWorker,
    batchesFailed: ({ batches }) => texts.batchesFailed(batches, format.number(batches)),
    backlogOld: ({ ageMs }) => texts.backlogOld(format.duration(ageMs)),
    deliveriesOld: ({ kind, ageMs }) => texts.deliveriesOld(kindOf(kind), format.duration(ageMs)),
    deliveriesFailing: ({ kind, failing, consumers }) =>
      texts.deliveriesFailing(kindOf(kind), format.number(failing), format.number(consumers)),
    retriesOld: ({ kind, ageMs }) => texts.retriesOld(kindOf(kind), format.duration(ageMs)),
    shardsAway: ({ shards }) => texts.shardsAway(format.list(shards.map(String))),
    figuresUnknown: () => texts.figuresUnknown,
    devicesSilent: ({ devices }) => texts.devicesSilent(devices, format.number(devices)),
    scansWaiting: ({ waitingMs }) => texts.scansWaiting(format.duration(waitingMs)),
    doorConflicts: ({ conflicts }) => texts.doorConflicts(conflicts, format.number(conflicts)),
  };
}
