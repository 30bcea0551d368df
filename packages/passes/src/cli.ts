import type { Command } from '@commander-js/extra-typings';
import { answeringChange, answeringFromDatabase, record, tableOf, type Cli } from '@floodgate/command';
import { parseCursor, parseId, parseLimit, parseText, parseWhole } from '@floodgate/command/arguments';
import { Failure } from '@floodgate/service/failure';
import type { PassCheck } from './check-pass.ts';
import type { PassKey } from './keys.ts';

const PROBLEMS: Record<NonNullable<PassCheck['problem']>, string> = {
  malformed: 'not a pass: it is cut off, or something else',
  'unknown-key': 'signed with a key that does not count here, or was withdrawn',
  forged: 'forged, or altered: the signature is not ours',
  'not-yet-valid': 'not valid yet',
  expired: 'no longer valid',
  unknown: 'there is no such registration',
  revoked: 'revoked: the registration was cancelled',
};

/** `floodgate pass …` */
export function addPassCommands(program: Command, cli: Cli): void {
  const pass = program.command('pass').description('what lets attendees in, and the keys that sign it');
  addVerify(pass, cli);
  addShow(pass, cli);
  addRevoked(pass, cli);
  addKeyCommands(pass, cli);
}

function addVerify(pass: Command, cli: Cli): void {
  const verify = pass
    .command('verify')
    .description('check a pass: its signature, its time, and whether it was revoked')
    .argument('<token>', 'what its QR code says', parseText);
  answeringFromDatabase(verify, cli, async (db, _options, token) => {
    const { checkPass } = await import('./check-pass.ts');
    const check = await checkPass(db, token);
    const document = { valid: check.problem === null, ...check };
    const mode = check.mode === 'test' ? { mode: 'test: it admits to no live event' } : {};
    const text = check.pass ? record({ ...mode, ...fieldsOf(check.pass) }) : '(nothing to read)';
    const failure = check.problem && PROBLEMS[check.problem];
    return { document, text, ...(failure && { failure }) };
  });
}

function addShow(pass: Command, cli: Cli): void {
  const show = pass
    .command('show')
    .description('show the pass of a confirmed registration')
    .argument('<passReference>', 'its pass reference', parseText);
  answeringFromDatabase(show, cli, async (db, _options, passReference) => {
    const { findByPassReference, passReferenceOf } = await import('@floodgate/registrations');
    const { findEventTimes } = await import('@floodgate/events');
    const { createPassSigner } = await import('./signer.ts');
    const { parsePass } = await import('./token.ts');
    const found = await findByPassReference(db, passReference);
    if (!found || passReferenceOf(found.row) !== passReference) throw new Failure('no such registration');
    const { state, eventId, ticketId, serial } = found.row;
    if (state !== 'confirmed') throw new Failure(`it is ${state}, and only a confirmed one has a pass`);
    const event = await findEventTimes(db, eventId);
    const token = await createPassSigner({ db }).tokenFor({ event, ticketId, serial });
    const said = parsePass(token)!;
    return { document: { passReference, pass: token, ...said }, text: `${record(fieldsOf(said))}\n${token}` };
  });
}

function addRevoked(pass: Command, cli: Cli): void {
  const revoked = pass
    .command('revoked')
    .description("list an event's passes that were revoked, of all partners, signed for doors")
    .argument('<eventId>', 'the event', parseId)
    .option('--after <cursor>', 'go on from here', parseCursor, 0)
    .option('--limit <passes>', 'at most this many', parseLimit, 1_000);
  answeringFromDatabase(revoked, cli, async (db, { after, limit }, eventId) => {
    const { findShard } = await import('@floodgate/events');
    const { CURSOR_PROBLEMS } = await import('@floodgate/registrations');
    const { readSigningKeys } = await import('./keys.ts');
    const { readRevocations, signRevocations } = await import('./revocations.ts');
    const shardId = await findShard(db, eventId);
    if (shardId === undefined) throw new Failure('no such event');
    const page = await readRevocations(db, { shardId, eventId, partnerId: null }, after, limit);
    if (typeof page === 'string') throw new Failure(`--after: ${CURSOR_PROBLEMS[page]}`);
    const { serials, cursor, more } = page;
    const revocations = signRevocations(page, (await readSigningKeys(db)).signing);
    const ending = `cursor: ${cursor}${more ? ' (there is more)' : ''}`;
    return {
      document: { revocations, cursor, more },
      text: `${tableOf(serials.map((serial) => ({ serial })))}\n${ending}`,
    };
  });
}

function addKeyCommands(pass: Command, cli: Cli): void {
  const keys = pass.command('keys').description('list the keys that sign passes, newest first');
  answeringFromDatabase(keys, cli, async (db) => {
    const { listPassKeys } = await import('./keys.ts');
    const all = await listPassKeys(db);
    return { document: all, text: tableOf(all.map(keyFieldsOf)) };
  });
  const rotate = pass
    .command('rotate')
    .description('make the key that signs from now on; what others signed stays valid');
  answeringChange(rotate, cli, async (db, actor) => {
    const { perform, rotatePassKeyAction } = await import('./actions.ts');
    const document = await perform(db, rotatePassKeyAction, {}, actor);
    return {
      document,
      text: `key ${document.id} signs; doors that verify offline have to fetch the keys anew`,
    };
  });
  const withdraw = pass
    .command('withdraw')
    .description('make all passes invalid that a retired key has signed')
    .argument('<keyId>', 'the key', parseWhole);
  answeringChange(withdraw, cli, async (db, actor, _options, keyId) => {
    const { perform, withdrawPassKeyAction } = await import('./actions.ts');
    const document = await perform(db, withdrawPassKeyAction, { keyId }, actor);
    return { document, text: `what key ${keyId} signed is not valid any more` };
  });
}

function keyFieldsOf({ id, createdAt, retiredAt, withdrawnAt }: PassKey) {
  const state = withdrawnAt ? 'withdrawn' : retiredAt ? 'retired' : 'signs';
  return { key: id, state, created: createdAt, retired: retiredAt, withdrawn: withdrawnAt };
}

/** What a person reads of a pass. */
function fieldsOf({
  keyId,
  eventId,
  ticketId,
  serial,
  validFrom,
  validUntil,
}: NonNullable<PassCheck['pass']>) {
  return {
    event: eventId,
    ticket: ticketId,
    serial,
    'valid from': validFrom,
    'valid until': validUntil,
    key: keyId,
  };
}
