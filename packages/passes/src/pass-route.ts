import { setImmediate as nextTick } from 'node:timers/promises';
import { Type } from '@sinclair/typebox';
import {
  answersOf,
  AttendeePass,
  COMMON_FAILURES,
  parsePassReference,
  RegistrationStatus,
  success,
  VaryHeader,
} from '@floodgate/contract';
import { readThroughCache, shardLoader, type Database, type ShardReads } from '@floodgate/database';
import { findEvent } from '@floodgate/events';
import { createFairQueue } from '@floodgate/service/fair-queue';
import type { PartnerPrincipal, Routes } from '@floodgate/http';
import { findRegistrations, passReferenceOf, type RegistrationQuery } from '@floodgate/registrations';
import Negotiator from 'negotiator';
import { qrPng, qrSvg } from './qr-code.ts';
import type { PassSigner } from './signer.ts';
import { validityOf } from './documents.ts';
import { parsePass } from './token.ts';

const PICTURES = ['image/svg+xml', 'image/png'];
/** The first is the default. */
const MEDIA_TYPES = ['application/json', ...PICTURES];

const ACCEPT_RULE = `Accept: ${MEDIA_TYPES.join(', ')}`;

interface Dependencies {
  reads: Database;
  shardReads: ShardReads;
  signer: PassSigner;
  answerWithinMs: number;
}

/** GET /events/registrations/{passReference}/pass: the pass of a registration, as a token or as a QR code. */
export function addPassRoute(api: Routes, dependencies: Dependencies): void {
  const findPass = createPassFinder(dependencies);
  const queue = createFairQueue({ answerWithinMs: dependencies.answerWithinMs });
  api.get(
    '/events/registrations/:passReference/pass',
    {
      schema: {
        operationId: 'getPass',
        tags: ['Registrations'],
        summary: 'Get Pass',
        description:
          'Returns the pass of a confirmed registration that the same partner made under this event: by `Accept`, as JSON ' +
          'with a signed token, or as a picture of its QR code, image/svg+xml or image/png. The pass names the event, not its ' +
          'times: it stays valid when the event moves. It changes only with the signing key.',
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
        // Drawing blocks the event loop, so each tick draws one picture.
        await nextTick();
        return { ...found, picture };
      };
      const isWanted = () => !request.raw.socket.destroyed;
      const isJson = mediaType === 'application/json';
      const found = isJson ? await find() : await queue(principal.partnerId, isWanted, draw);
      if (found === 'unknown') return reply.fail('34');
      if (typeof found === 'string')
        return reply.fail('35', {
          message: `The registration is ${found}, and only a confirmed one has a pass`,
        });
      void reply.header('vary', 'accept');
      if ('picture' in found) return reply.type(mediaType).send(found.picture as never);
      return success(describePass(params.passReference, found));
    },
  );
}

/** Returns a function that finds the pass of a confirmed registration, or says why there is none: `unknown`, or its state. */
function createPassFinder({ reads, shardReads, signer }: Dependencies) {
  const findRegistration = shardLoader(shardReads, (queries: RegistrationQuery[]) =>
    findRegistrations(reads, queries),
  );
  const events = readThroughCache((eventId: number) => findEvent(reads, eventId));

  return async function find({ shardId, partnerId, eventId }: PartnerPrincipal, passReference: string) {
    const serial = parsePassReference(passReference)?.serial;
    const row = serial && (await findRegistration({ shardId, serial, partnerId, eventId }));
    // Found by its serial, then compared completely: a guessed serial alone opens nothing.
    if (!row || passReferenceOf(row) !== passReference) return 'unknown';
    if (row.state !== 'confirmed') return row.state;
    const event = events.get(eventId) ?? (await events.forceFetch(eventId));
    const { ticketId } = row;
    return { pass: await signer.tokenFor({ eventId, ticketId, serial }), ...validityOf(event) };
  };
}

/** Returns a pass as partners see it. */
function describePass(
  passReference: string,
  { pass, validFrom, validUntil }: Pick<AttendeePass, 'pass' | 'validFrom' | 'validUntil'>,
): AttendeePass {
  const { keyId, eventId, ticketId } = parsePass(pass)!;
  return {
    passReference,
    pass,
    keyID: String(keyId),
    organizedEventID: eventId,
    organizedEventTicketID: ticketId,
    validFrom,
    validUntil,
  };
}
