// The load generator's process: takes one load from its parent, generates it, sends the result back and ends.
import { once } from 'node:events';
import type { Load } from './load.ts';
import { runLoad } from './run-load.ts';

// Should the parent end first.
process.on('disconnect', () => process.exit());
const [load] = (await once(process, 'message')) as [Load];
const result = await runLoad(load);
// Not left to the event loop: connections whose answers never came would keep it alive.
process.send!(result, () => process.exit());
