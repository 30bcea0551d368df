import {
  forgetConnections,
  freeze,
  holdMode,
  lose,
  type Fault,
  type FaultContext,
  type Hold,
} from './fault.ts';
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
async function kill(server: PostgresUnderTest, hold: Hold): Promise<void> {
  await server.kill();
  await hold();
  await server.recover();
}

const wireOf = ({ node }: FaultContext) => node!.wire;

/** What only a cluster of several servers can run into. */
export const CITUS_FAULTS: readonly Fault[] = [
  {
    name: 'coordinator killed',
    part: 'postgres',
    deployments: ['citus'],
    strike: ({ deployment: { postgres }, hold }) => kill(postgres, hold),
  },
  ofNode('crashed', ({ node, hold }) => lose(node!.server, hold)),
  ofNode('killed', ({ node, hold }) => kill(node!.server, hold)),
  ofNode('frozen', ({ node, hold }) => freeze(node!.server, hold), { outlastsLocks: true }),
  ofNode('partitioned: down', (context) => holdMode([wireOf(context)], 'down', context.hold)),
  ofNode('partitioned: reset', (context) => holdMode([wireOf(context)], 'reset', context.hold)),
  ofNode('partitioned: silent', (context) => holdMode([wireOf(context)], 'silent', context.hold)),
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
