import type { Database } from '@floodgate/database';

/** The registration that a committed batch made for one of its positions. */
export interface CommittedRegistration {
  /** 1-based, as the batch statement numbers its input. */
  position: number;
  serial: number;
  passCode: number;
}

/** The registrations of a committed batch; empty where no such batch has committed. */
export async function findBatch(db: Database, batchId: string): Promise<CommittedRegistration[]> {
  return db
    .selectFrom('batches')
    .innerJoin('registrations', (join) =>
      join
        .onRef('registrations.serial', '>=', 'batches.first_serial')
        .onRef('registrations.serial', '<=', 'batches.last_serial')
        .onRef('registrations.batch_id', '=', 'batches.id'),
    )
    .where('batches.id', '=', batchId)
    .select(['registrations.position', 'registrations.serial', 'registrations.pass_code as passCode'])
    .execute();
}
