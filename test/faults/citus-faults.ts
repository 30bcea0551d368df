import { setTimeout as delay } from 'node:timers/promises';
import { forgetConnections, freeze, holdMode, lose, type Fault, type FaultContext } from './fault.ts';
import type { PostgresUnderTest } from './postgres-under-test.ts';

/** One way to break one worker node of a Citus cluster. */
function ofNode(name: string, strike: Fault['strike'], more: Partial<Fault> = {}): Fault {
  return {
    name: `worker node ${name}`,
    part: 'postgres',
    deployments: ['citus'],
    isOfNode: true,
    strike,
    ...more,
  };
}

/** Ends every process of a server without a word to anybody, and starts it again after a while. */
async function kill(server: PostgresUnderTest, holdMs: number): Promise<void> {
  await server.kill();
  await delay(holdMs);
  await server.recover();
}

const wireOf = ({ node }: FaultContext) => node!.wire;

/** What only a cluster of several servers can run into. */
export const CITUS_FAULTS: readonly Fault[] = [
  {
    name: 'coordinator killed',
    part: 'postgres',
    deployments: ['citus'],
    strike: ({ deployment: { postgres }, holdMs }) => kill(postgres, holdMs),
  },
  ofNode('crashed', ({ node, holdMs }) => lose(node!.server, holdMs)),
  ofNode('killed', ({ node, holdMs }) => kill(node!.server, holdMs)),
  ofNode('frozen', ({ node, holdMs }) => freeze(node!.server, holdMs), { outlastsLocks: true }),
  ofNode('partitioned: down', (context) => holdMode([wireOf(context)], 'down', context.holdMs)),
  ofNode('partitioned: reset', (context) => holdMode([wireOf(context)], 'reset', context.holdMs)),
  ofNode('partitioned: silent', (context) => holdMode([wireOf(context)], 'silent', context.holdMs)),
  ofNode(
    'partitioned: half-open',
    async ({ node, deployment }) => {
      await forgetConnections([node!.wire]);
      // The suite looks over new ones, and not with its own patience.
      deployment.wires.suiteToPostgres.cutConnections();
    },
    // A transaction that was under way stays open on the node, with its locks: nobody tells the node that it is over.
    { leavesRemains: true },
  ),
];
