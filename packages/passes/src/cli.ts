import type { Command } from '@commander-js/extra-typings';
import { actionCommands } from '@floodgate/audit/commands';
import { onDatabaseRun, record, tableOf, type Cli } from '@floodgate/command';
import { parseCursor, parseId, parseLimit, parseText, parseWhole } from '@floodgate/command/arguments';
import type { Database } from '@floodgate/database';
import { Failure } from '@floodgate/service/failure';
import { queryCommands } from '@floodgate/operators/commands';
import type { PassCheck } from './console.ts';
import type { EventDocument } from './documents.ts';
import type { PassKey } from './pass-keys.ts';
import type { Pass } from './token.ts';

const PROBLEMS: Record<NonNullable<PassCheck['problem']>, string> = {
  malformed: 'not a pass: the text is incomplete, or something else',
  'unknown-key': 'signed with an unknown key, or with one that was withdrawn',
  forged: 'forged or altered: the signature is wrong',
  unknown: 'no such registration',
  revoked: 'revoked: the registration was cancelled',
  'not-yet-valid': 'not valid yet',
  expired: 'no longer valid',
};

const loadOperations = async () => (await import('./console.ts')).passOperations;
const FETCH_AGAIN = 'doors that verify offline must fetch the keys again';

/** `floodgate pass …` */
export function addPassCommands(program: Command, cli: Cli): void {
  const pass = program.command('pass').description('passes of attendees, and the keys that sign them');
  const queryCommand = queryCommands(pass, cli, loadOperations);
  addPassChecks(pass, cli);
  addDoorDocuments(pass, cli);
  queryCommand(
    'keys',
    (operations) => operations.passKeyList,
    (keys) => tableOf(keys.map(rowOf)),
  ).description('list the keys that sign passes, newest first');
  const actionCommand = actionCommands(pass, cli, () => import('./actions.ts'));
  actionCommand(
    'rotate',
    (actions) => actions.rotatePassKeyAction,
    ({ id }) => `key ${id} signs; ${FETCH_AGAIN}`,
  ).description('create a new signing key; passes signed by earlier keys stay valid');
  actionCommand(
    'withdraw',
    (actions) => actions.withdrawPassKeyAction,
    ({ id }) => `passes signed by key ${id} are no longer valid`,
  )
    .description('invalidate all passes that a retired key signed')
    .argument('<keyId>', 'the key', parseWhole);
}

function addPassChecks(pass: Command, cli: Cli): void {
  queryCommands(pass, cli, loadOperations)(
    'verify',
    (operations) => operations.passVerify,
    (check) => {
      const { pass: found, mode, problem } = check;
      const note = mode === 'test' ? { mode: 'test: not valid for live events' } : {};
      const text = found ? record({ ...note, ...fieldsOf({ ...check, ...found }) }) : '(not a pass)';
      return { text, ...(problem && { failure: PROBLEMS[problem] }) };
    },
  )
    .description('check a pass: its signature, the current times of its event, and whether it was revoked')
    .argument('<token>', 'the text of its QR code', parseText);
  const show = pass
    .command('show')
    .description('show the pass of a confirmed registration')
    .argument('<passReference>', 'its pass reference', parseText);
  onDatabaseRun(show, cli, async (db) => {
    const [passReference] = show.processedArgs;
    const { findByPassReference } = await import('@floodgate/registrations/list');
    const { createPassSigner, parsePass, readEventDocument } = await import('./index.ts');
    const { row } = await findByPassReference(db, passReference);
    const { state } = row;
    if (state !== 'confirmed')
      throw new Failure(`the registration is ${state}; only a confirmed one has a pass`);
    const { validFrom, validUntil } = await readEventDocument(db, row.eventId);
    const token = await createPassSigner({ db }).tokenFor(row);
    const document = { passReference, pass: token, ...parsePass(token)!, validFrom, validUntil };
    return { document, text: `${record(fieldsOf(document))}\n${token}` };
  });
}

/** The operations return the content of the documents. The command has the private key, and signs it. */
function addDoorDocuments(pass: Command, cli: Cli): void {
  const queryCommand = queryCommands(pass, cli, loadOperations);
  const sign = async (db: Database, type: 'event' | 'revocations', content: object) =>
    (await import('./pass-keys.ts')).createPassSigner({ db }).sign(type, content);
  queryCommand(
    'event',
    (operations) => operations.passEvent,
    async (content, _given, db) => {
      const event = await sign(db, 'event', content);
      return { document: { event, revision: content.revision }, text: `${eventText(content)}\n${event}` };
    },
  )
    .description('show an event with its current times, signed for doors')
    .argument('<eventId>', 'the event', parseId);
  queryCommand(
    'revoked',
    (operations) => operations.passRevoked,
    async (page, _given, db) => {
      const { serials, cursor, more } = page;
      const revocations = await sign(db, 'revocations', page);
      const list = tableOf(serials.map((serial) => ({ serial })));
      const text = `${list}\ncursor: ${cursor}${more ? ' (there is more)' : ''}`;
      return { document: { revocations, cursor, more }, text };
    },
  )
    .description('list the revoked passes of all partners under an event, signed for doors')
    .argument('<eventId>', 'the event', parseId)
    .option('--after <cursor>', 'continue after this cursor', parseCursor, 0)
    .option('--limit <passes>', 'at most this many', parseLimit, 1_000);
}

const eventText = (event: EventDocument) =>
  record({
    event: event.event,
    eventRef: event.eventRef,
    revision: event.revision,
    name: event.name,
    venue: event.venue,
    timeZone: event.timeZone,
    startsAt: event.startsAt,
    endsAt: event.endsAt,
    validFrom: event.validFrom,
    validUntil: event.validUntil,
    at: event.at,
  });

function rowOf({ id: key, createdAt: created, retiredAt: retired, withdrawnAt: withdrawn }: PassKey) {
  const state = withdrawn ? 'withdrawn' : retired ? 'retired' : 'signs';
  return { key, state, created, retired, withdrawn };
}

/** Returns the lines that show a pass. */
function fieldsOf(pass: Pass & Pick<PassCheck, 'validFrom' | 'validUntil'>) {
  const { keyId: key, eventId: event, ticketId: ticket, serial, validFrom, validUntil } = pass;
  return { event, ticket, serial, 'valid from': validFrom, 'valid until': validUntil, key };
}
