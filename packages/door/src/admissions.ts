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
import { sql } from 'kysely';

const schema = {
  operationId: 'listAdmissions',
  ...answering('Registrations', AdmissionList, [...COMMON_FAILURES, '11', '34']),
  summary: 'List Admissions',
  description:
    'Lists when and at which gates a registration that you made under this event was admitted, oldest first. Scans of a door ' +
    'without network arrive later.',
  params: Type.Pick(RegistrationStatus, ['passReference']),
};

/** GET /events/registrations/{passReference}/admissions: when the pass was let in, and where. */
export function addAdmissionsRoute(api: Routes, { reads, shardReads }: ApiContext): void {
  const path = '/events/registrations/:passReference/admissions';
  api.get(path, { schema }, async ({ principal, params: { passReference } }, reply) => {
    const { shardId, partnerId, eventId } = principal;
    const serial = parsePassReference(passReference)?.serial;
    const [row] = serial
      ? await shardReads(shardId, () => findRegistrations(reads, [{ shardId, serial, partnerId, eventId }]))
      : [];
    if (!row || passReferenceOf(row) !== passReference) return reply.fail('34');
    return success({ passReference, admissions: await listAdmissions(reads, shardId, row.serial) });
  });
}

/** Returns the admissions of a registration, oldest first. */
async function listAdmissions(db: Database, shardId: number, registration: number) {
  type Admission = Static<typeof AdmissionList>['admissions'][number];
  type Row = Pick<Admission, 'gate' | 'device' | 'state'> & { at: Date; leftAt: Date | null };
  const { rows } = await sql<Row>`
    select g.name as gate, d.name as device, a.at, a.left_at as "leftAt",
      case when a.undone_at is not null then 'undone' when a.again_of is not null then 'again' else 'admitted' end as state
    from admissions a
    join gates g on g.shard_id = a.shard_id and g.id = a.gate_id
    join devices d on d.shard_id = a.shard_id and d.id = a.device_id
    where a.shard_id = ${shardId} and a.registration = ${registration}
    order by a.at, a.serial`.execute(db);
  return rows.map(({ at, leftAt, ...row }) => {
    const dateLeft = leftAt && formatTimestamp(leftAt);
    return { ...row, dateAdmitted: formatTimestamp(at), dateLeft };
  });
}
