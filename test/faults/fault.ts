import { setTimeout as delay } from 'node:timers/promises';
import type { TcpProxy } from '../harness/tcp-proxy.ts';
import type { NodeUnderTest } from './citus-under-test.ts';
import type { Breakable, Deployment, DeploymentKind } from './deployment.ts';
import type { Random } from './random.ts';

/** Resolves when a fault has lasted long enough. */
export type Hold = () => Promise<unknown>;

/** What a fault may do to its surroundings. */
export interface FaultContext {
  deployment: Deployment;
  random: Random;
  /** Keeps broken what is to stay broken for a while. */
  hold: Hold;
  /** On a Citus cluster: the worker node that a fault of a node breaks. */
  node: NodeUnderTest | undefined;
}

/** One way to break a deployment. */
export interface Fault {
  name: string;
  /** Two faults of one round never break the same part. */
  part: 'api' | 'worker' | 'delivery' | 'receivers' | 'postgres' | 'redis' | 'partners';
  /** Why it cannot be tried here; null where it can. */
  missing?: () => string | null;
  /** Only in the long version: it takes a deployment of its own, or long to prepare. */
  isLongOnly?: true;
  /** The deployments that it breaks; by default those with a single Redis. */
  deployments?: readonly DeploymentKind[];
  /** It breaks one worker node: events on the others are sold on meanwhile. */
  isOfNode?: true;
  /** It leaves behind what is never found out: the next round gets a deployment of its own. */
  leavesRemains?: true;
  /** Partners reach the APIs over a wire that breaks. */
  isOnPartnersWire?: true;
  /** Partners may wait in vain: whoever should answer cannot. */
  mayTimeOut?: true;
  /** Also tried for longer than the queue's locks last. */
  outlastsLocks?: true;
  /** Whether requests that were read may fail; by default, where the fault is in what registering needs. */
  mayFail?: boolean;
  /** Breaks something, keeps it broken, and mends it. Resolves when the broken part runs again. */
  strike(context: FaultContext): Promise<void>;
}

const SINGLE_REDIS: readonly DeploymentKind[] = ['redis', 'citus'];

/** The deployments that a fault breaks. */
export const deploymentsOf = ({ deployments = SINGLE_REDIS }: Fault): readonly DeploymentKind[] =>
  deployments;

const NOT_NEEDED: readonly Fault['part'][] = ['redis', 'worker', 'delivery', 'receivers'];

/** Registering needs neither the queue nor its workers, nor those who are told: without them, no request may fail. */
export const makesRequestsFail = ({ part, mayFail = !NOT_NEEDED.includes(part) }: Fault): boolean => mayFail;

const CUTS = 10;
const CUT_EVERY_MS = 60;

export const each = (wires: TcpProxy[], act: (wire: TcpProxy) => void) => wires.forEach(act);

/** Holds wires in a mode for a while. */
export async function holdMode(
  wires: TcpProxy[],
  mode: 'down' | 'reset' | 'silent',
  hold: Hold,
): Promise<void> {
  each(wires, (wire) => wire.setMode(mode));
  await hold();
  each(wires, (wire) => wire.setMode('pass'));
}

/** The connections there are deliver nothing more, and nobody says so; what has noticed gets a new one. */
export function forgetConnections(wires: TcpProxy[]): Promise<void> {
  each(wires, (wire) => wire.forgetConnections());
  return Promise.resolve();
}

/** Kills somebody, and starts it again after a while. */
export async function lose(part: Breakable, hold: Hold): Promise<void> {
  await part.crash();
  await hold();
  await part.recover();
}

/** Freezes somebody for a while. */
export async function freeze(part: Breakable, hold: Hold): Promise<void> {
  part.signal('SIGSTOP');
  await hold();
  part.signal('SIGCONT');
}

/** Does something several times, one soon after the other. */
export async function repeatedly(act: () => unknown): Promise<void> {
  for (let time = 0; time < CUTS; time += 1) {
    await act();
    await delay(CUT_EVERY_MS);
  }
}
