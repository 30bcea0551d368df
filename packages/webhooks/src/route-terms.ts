import { COMMON_FAILURES, type FailureCode } from '@floodgate/contract';
import type { Database } from '@floodgate/database';
import type { PartnerPrincipal } from '@floodgate/http';
import type { Socket } from 'node:net';

// What the routes of webhooks have in common.

/** What the fair queue needs of a request. */
export interface Caller {
  principal: PartnerPrincipal;
  raw: { socket: Pick<Socket, 'destroyed'> };
}

/** Runs work on the database when the caller's turn has come. */
export type InTurn = <Result>(caller: Caller, work: (db: Database) => Promise<Result>) => Promise<Result>;

export const tags = ['Webhooks'];
/** Of a route that is about one webhook. */
export const failures: FailureCode[] = [...COMMON_FAILURES, '11', '70'];
export const ONE = '/webhooks/:webhookId';
