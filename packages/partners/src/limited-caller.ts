/** The caller whose limits a request counts against: a partner, or a device at a door. */
export type LimitedCaller =
  | { kind: 'partner'; partnerId: number; requestsPerSecond: number | null }
  | { kind: 'device'; deviceId: number; requestsPerSecond: number };

/**
 * Returns the number under which the use of a caller is counted. One table counts for partners and devices,
 * so that of a device is negative.
 */
export const counterIdOf = (caller: LimitedCaller): number =>
  caller.kind === 'partner' ? caller.partnerId : -caller.deviceId;
