import { setImmediate as nextTurn } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import {
  answersOf,
  AttendeePass,
  COMMON_FAILURES,
  formatTimestamp,
  parsePassReference,
  RegistrationStatus,
  success,
  VaryHeader,
} from '@floodgate/contract';
import { readThroughCache, shardLoader, type Database, type ShardReads } from '@floodgate/database';
import { findEventTimes } from '@floodgate/events';
import { createFairQueue, type PartnerPrincipal, type Routes } from '@floodgate/http';
import { findRegistrations, passReferenceOf, type RegistrationQuery } from '@floodgate/registrations';
import Negotiator from 'negotiator';
import { qrPng, qrSvg } from './qr-code.ts';
import type { PassSigner } from './signer.ts';
import { parsePass } from './token.ts';

const PICTURES = ['image/svg+xml', 'image/png'];
/** The first where there is no preference. */
const MEDIA_TYPES = ['application/json', ...PICTURES];

const ACCEPT_RULE = `Accept: ${MEDIA_TYPES.join(', ')}`;

interface Dependencies {
  reads: Database;
  shardReads: ShardReads;
  signer: PassSigner;
  answerWithinMs: number;
}

/** GET /events/registrations/{passReference}/pass: what lets an attendee in, as a token or as the QR code of it. */
export function addPassRoute(api: Routes, dependencies: Dependencies): void {
  const findPass = createPassFinder(dependencies);
  const inTurn = createFairQueue({ answerWithinMs: dependencies.answerWithinMs });
  api.get(
    '/events/registrations/:passReference/pass',
    {
      schema: {
        operationId: 'getPass',
        tags: ['Registrations'],
        summary: 'Get Pass',
        description:
          'Returns the pass of a confirmed registration that the same partner made under this event: by `Accept`, as JSON ' +
          'with a signed token, or as a picture of its QR code, image/svg+xml or image/png. It stays the same ' +
          'until the times of the event or the signing key change. Earlier passes stay valid.',
        failures: [...COMMON_FAILURES, '11', '34', '35'],
        params: Type.Pick(RegistrationStatus, ['passReference']),
        response: answersOf(AttendeePass),
        pictures: PICTURES,
        answerHeaders: VaryHeader,
      },
    },
    async (request, reply) => {
      const mediaType = new Negotiator(request).mediaType(MEDIA_TYPES);
      if (mediaType === undefined)
        return reply.fail('11', {
          message: ACCEPT_RULE,
          invalidFields: [{ field: 'header/accept', rule: 'enum' }],
        });
      const { principal, params } = request;
      const find = () => findPass(principal, params.passReference);
      const draw = async () => {
        const found = await find();
        if (typeof found === 'string') return found;
        const picture = mediaType === 'image/png' ? qrPng(found.pass) : qrSvg(found.pass);
        // Drawing blocks the event loop, so one turn of it has time for one picture.
        await nextTurn();
        return { ...found, picture };
      };
      const isWanted = () => !request.raw.socket.destroyed;
      const isJson = mediaType === 'application/json';
      const found = isJson ? await find() : await inTurn(principal.partnerId, isWanted, draw);
      if (found === 'unknown') return reply.fail('34');
      if (typeof found === 'string')
        return reply.fail('35', {
          message: `The registration is ${found}, and only a confirmed one has a pass`,
        });
      void reply.header('vary', 'accept');
      if ('picture' in found) return reply.type(mediaType).send(found.picture as never);
      return success(describePass(params.passReference, found.pass));
    },
  );
}

/** Returns what finds a confirmed registration's pass, or says why there is none: `unknown`, or its state. */
function createPassFinder({ reads, shardReads, signer }: Dependencies) {
  const findRegistration = shardLoader(shardReads, (queries: RegistrationQuery[]) =>
    findRegistrations(reads, queries),
  );
  const times = readThroughCache((eventId: number) => findEventTimes(reads, eventId));

  return async function find({ shardId, partnerId, eventId }: PartnerPrincipal, passReference: string) {
    const serial = parsePassReference(passReference)?.serial;
    const row = serial && (await findRegistration({ shardId, serial, partnerId, eventId }));
    // Found by its serial, then compared whole: a guessed serial alone opens nothing.
    if (!row || passReferenceOf(row) !== passReference) return 'unknown';
    if (row.state !== 'confirmed') return row.state;
    const event = times.get(eventId) ?? (await times.forceFetch(eventId));
    return { pass: await signer.tokenFor({ event, ticketId: row.ticketId, serial: row.serial }) };
  };
}

/** Returns what a partner is told of a pass. */
export function describePass(passReference: string, pass: string): AttendeePass {
  const { keyId, eventId, ticketId, validFrom, validUntil } = parsePass(pass)!;
  return {
    passReference,
    pass,
    keyID: String(keyId),
    organizedEventID: eventId,
    organizedEventTicketID: ticketId,
    validFrom: validFrom && formatTimestamp(validFrom),
    validUntil: validUntil && formatTimestamp(validUntil),
  };
}
