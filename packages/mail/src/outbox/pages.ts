import type { Page } from '@floodgate/service';
import type { Outbox } from './outbox.ts';

/** Shows what an outbox keeps. */
export const outboxPage =
  (_outbox: Outbox): Page =>
  () =>
    false;
