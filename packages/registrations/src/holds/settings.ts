import { whole } from '@floodgate/service';

/** The default of HOLD_SHARE_PERCENT. */
export const DEFAULT_HOLD_SHARE_PERCENT = 20;

/** The default of HOLD_LIMIT_SECONDS. */
export const DEFAULT_HOLD_LIMIT_SECONDS = 1_800;

/** The API refuses holds above the share, and neither the API nor the worker makes offers above it. */
export const holdShareSettings = {
  HOLD_SHARE_PERCENT: whole(
    'percent of a ticket that one partner may hold at a time, at least four seats, the same for API and worker',
    [1, 100],
    DEFAULT_HOLD_SHARE_PERCENT,
  ),
};
