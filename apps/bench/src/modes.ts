import { ABANDONED_BASKETS } from './baskets/abandoned.ts';
import { BASKETS } from './baskets/baskets.ts';
import { WAITING } from './baskets/waiting.ts';
import { CITUS } from './citus/citus.ts';
import { DOOR } from './door/door.ts';
import { LAUNCH, MAILS } from './installation/mails.ts';
import { WATCH } from './installation/watch.ts';
import { FAIR } from './limits/fairness.ts';
import { HOSTILE } from './limits/hostile.ts';
import { OUTAGES } from './limits/outages.ts';
import { OVERLOAD } from './limits/overload.ts';
import type { Mode } from './mode.ts';
import { FINALIZATION } from './rates/finalization.ts';
import { RATE_MODES } from './rates/rate-modes.ts';
import { SOAK } from './rates/soak.ts';
import { HISTORY } from './stored/history.ts';
import { WEBHOOKS } from './webhooks/webhooks.ts';

/** Every measurement. The documents show a figure of each. */
export const MODES: readonly Mode[] = [
  ...RATE_MODES,
  SOAK,
  FINALIZATION,
  HISTORY,
  WEBHOOKS,
  MAILS,
  LAUNCH,
  WATCH,
  BASKETS,
  ABANDONED_BASKETS,
  WAITING,
  DOOR,
  OVERLOAD,
  FAIR,
  HOSTILE,
  OUTAGES,
  CITUS,
];
