import { generateLoad } from '../load/generate.ts';
import type { Load, LoadResult, RequestShape } from '../load/load.ts';
import type { Contender } from './contender.ts';
import { startFloodgate } from './floodgate.ts';

/** Registrations of a call. */
const SIZE = 500;
/** Twice as many calls as one commit takes (BATCH_LIMIT), so that one half is answered while the other is committed. */
const CONNECTIONS = 8;

/** Floodgate, asked for the same registrations in bulk calls. */
export const bulk: Contender = {
  name: 'bulk',
  description: `Floodgate with the same registrations in calls of ${SIZE}, over ${CONNECTIONS} connections`,
  start: async (surroundings) => ({
    ...(await startFloodgate(surroundings)),
    generate: async (load) => inRegistrations(await generateLoad(inCalls(load))),
  }),
};

const inCalls = (load: Load): Load => ({
  ...load,
  connections: CONNECTIONS,
  requests: load.requests.map((request) => callOf(request, SIZE)),
});

/** The same registration so many times in one bulk call. */
export function callOf(request: RequestShape, size: number): RequestShape {
  const registrations = Array.from({ length: size }, () => request.body).join(',');
  return { ...request, path: `${request.path}/bulk`, body: `{"registrations":[${registrations}]}` };
}

/** Answers are counted as the registrations that they stand for; the books show whether each was carried out. */
function inRegistrations(result: LoadResult): LoadResult {
  const answers = Object.entries(result.answers).map(([status, count]) => [status, count * SIZE]);
  return { ...result, answers: Object.fromEntries(answers) as LoadResult['answers'] };
}
