/** The states of an entry of a waiting list. */
export const STATES = ['waiting', 'offered', 'confirmed', 'expired', 'left'] as const;
