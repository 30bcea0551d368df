// The problems of an installation. `floodgate status` prints it, and the console shows it on every page.

/** The facts of each finding. Times are in milliseconds. */
interface FactsOf {
  postgresDown: object;
  /** No process of this service reports. Null: none has reported for a while. */
  serviceMissing: { service: string; silentMs: number | null };
  /** A process has stopped to report without an orderly stop, and none has started in its place. */
  processLost: { service: string; host: string; silentMs: number };
  queueDown: object;
  queueUnsafe: object;
  queueWithoutWorker: object;
  batchesFailed: { batches: number };
  backlogOld: { ageMs: number };
  deliveriesOld: { kind: string; ageMs: number };
  /** Most consumers of a kind fail. */
  deliveriesFailing: { kind: string; failing: number; consumers: number };
  retriesOld: { kind: string; ageMs: number };
  shardsAway: { shards: readonly number[] };
  /** Postgres answers, and the figures could not be read. */
  figuresUnknown: object;
  devicesSilent: { devices: number };
  scansWaiting: { waitingMs: number };
  doorConflicts: { conflicts: number };
}

export type FindingCode = keyof FactsOf;

/** Something that the installation suffers from now. */
export type Finding = {
  [Code in FindingCode]: { code: Code; facts: FactsOf[Code]; runbook: string };
}[FindingCode];

/** Texts for findings of each code. */
export type FindingTexts = { [Code in FindingCode]: (facts: FactsOf[Code]) => string };

/** The entry of the runbook about each finding: the anchor of its heading. */
const RUNBOOK = {
  postgresDown: 'postgres-does-not-answer',
  serviceMissing: 'servicedown',
  processLost: 'processdown',
  queueDown: 'queuedown',
  queueUnsafe: 'queuedown',
  queueWithoutWorker: 'servicedown',
  batchesFailed: 'batches-that-failed',
  backlogOld: 'confirmationslate',
  deliveriesOld: 'deliverieslate',
  deliveriesFailing: 'webhooksfailing',
  retriesOld: 'retriestoolong',
  shardsAway: 'postgres-does-not-answer',
  figuresUnknown: 'backlogunknown',
  devicesSilent: 'devicessilent',
  scansWaiting: 'scanswaiting',
  doorConflicts: 'doorconflicts',
} as const satisfies Record<FindingCode, string>;

const MAIL_RUNBOOK: Partial<Record<FindingCode, string>> = { deliveriesFailing: 'emailsrefused' };

/** Returns a finding with its entry of the runbook. */
export function found<Code extends FindingCode>(code: Code, facts: FactsOf[Code]) {
  const ofMail = 'kind' in facts && facts.kind === 'mail' ? MAIL_RUNBOOK[code] : undefined;
  return { code, facts, runbook: ofMail ?? RUNBOOK[code] };
}

/** Returns the text for a finding. */
export function textOf<Code extends FindingCode>(
  texts: { [One in FindingCode]: (facts: FactsOf[One]) => string },
  { code, facts }: { code: Code; facts: FactsOf[Code] },
) {
  return texts[code](facts);
}
