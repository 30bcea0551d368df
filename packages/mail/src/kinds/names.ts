import { CONFIRMATION, EVENT_UPDATED } from '@floodgate/events';

/** The kind of delivery that notifies a contact of an offer. Its subject is the serial of the entry of a waiting list. */
export const WAITING_OFFER = 'waiting-offer';

/** The kinds that an operator enables and disables for an event. */
export const EVENT_KINDS = [CONFIRMATION, EVENT_UPDATED, WAITING_OFFER] as const;
