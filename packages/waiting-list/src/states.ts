import type { WaitingState } from '@floodgate/database';

/** The states of an entry of a waiting list. */
export const STATES: readonly WaitingState[] = ['waiting', 'offered', 'confirmed', 'expired', 'left'];
