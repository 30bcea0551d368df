import { Type, type Static } from '@sinclair/typebox';
import {
  AdmissionList,
  answering,
  COMMON_FAILURES,
  formatTimestamp,
  parsePassReference,
  RegistrationStatus,
  success,
} from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { ApiContext, Routes } from '@floodgate/http';
import { findRegistrations, passReferenceOf } from '@floodgate/registrations';
import { createFairQueue } from '@floodgate/service/fair-queue';
import { sql } from 'kysely';

const schema = {
  operationId: 'listAdmissions',
  ...answering('Registrations', AdmissionList, [...COMMON_FAILURES, '11', '34']),
  summary: 'List Admissions',
  description:
    'Lists when and at which gates the seat of a registration that you made under this event was admitted, oldest ' +
    'first. After a change of attendee, the old and the new registration have the same admissions. Scans of a door ' +
    'without network arrive later.',
  params: Type.Pick(RegistrationStatus, ['passReference']),
};

/** GET /events/registrations/{passReference}/admissions: when the pass was let in, and where. */
export function addAdmissionsRoute(
  api: Routes,
  { reads, shardReads, answerWithinMs, clock }: ApiContext,
): void {
  // One connection for all callers, as for lists.
  const queue = createFairQueue({ answerWithinMs, clock });
  const path = '/events/registrations/:passReference/admissions';
  api.get(path, { schema }, async ({ principal, params: { passReference }, raw }, reply) => {
    const { shardId, partnerId, eventId } = principal;
    const serial = parsePassReference(passReference)?.serial;
    if (!serial) return reply.fail('34');
    const read = async () => {
      const [row] = await findRegistrations(reads, [{ shardId, serial, partnerId, eventId }]);
      if (!row || passReferenceOf(row) !== passReference) return null;
      return listAdmissions(reads, shardId, serial);
    };
    const isCallerConnected = () => !raw.socket.destroyed;
    const admissions = await queue(partnerId, isCallerConnected, () => shardReads(shardId, read));
    return admissions ? success({ passReference, admissions }) : reply.fail('34');
  });
}

/** Returns the admissions of the seat of a registration, oldest first. */
async function listAdmissions(db: Database, shardId: number, registration: number) {
  type Admission = Static<typeof AdmissionList>['admissions'][number];
  type Row = Pick<Admission, 'gate' | 'device' | 'state'> & { at: Date; leftAt: Date | null };
  const { rows } = await sql<Row>`
    select g.name as gate, d.name as device, a.at, a.left_at as "leftAt",
      case
        when a.undone_at is not null then 'undone' when a.again_of is not null then 'again' else 'admitted'
      end as state
    from admissions a
    join gates g on g.shard_id = a.shard_id and g.id = a.gate_id
    join devices d on d.shard_id = a.shard_id and d.id = a.device_id
    where a.shard_id = ${shardId} and a.seat = (
      select coalesce(seat, serial) from registrations where shard_id = ${shardId} and serial = ${registration}
    )
    order by a.at, a.serial`.execute(db);
  return rows.map(({ at, leftAt, ...row }) => {
    const dateLeft = leftAt && formatTimestamp(leftAt);
    return { ...row, dateAdmitted: formatTimestamp(at), dateLeft };
  });
}
