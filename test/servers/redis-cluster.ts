import { Redis } from 'ioredis';
import { findFreePort } from '../harness/free-port.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { startRedis, type RedisProcess } from './redis.ts';

const MASTERS = 3;
const SLOTS = 16_384;
const NODE_TIMEOUT_MS = '1000';

interface Node {
  server: RedisProcess;
  client: Redis;
  id: string;
  busPort: number;
}

/** A Redis Cluster on this machine: three masters, each with a replica. */
export interface RedisCluster extends AsyncDisposable {
  /** Value for QUEUE_URL. */
  url: string;
  /** Kills the master with most keys, and resolves when a replica has replaced it. */
  loseBusiestMaster(): Promise<void>;
}

export async function startRedisCluster(): Promise<RedisCluster> {
  await using started = new AsyncDisposableStack();
  const nodes: Node[] = [];
  for (let count = 0; count < 2 * MASTERS; count += 1) nodes.push(started.adopt(await startNode(), stopNode));
  const { server: first, busPort } = nodes[0]!;
  for (const { client } of nodes)
    await client.call('CLUSTER', 'MEET', '127.0.0.1', String(first.port), String(busPort));
  for (let master = 0; master < MASTERS; master += 1) {
    const slots = [master, master + 1].map((nth) => Math.floor((nth * SLOTS) / MASTERS));
    await nodes[master]!.client.call('CLUSTER', 'ADDSLOTSRANGE', String(slots[0]), String(slots[1]! - 1));
  }
  await waitUntil('all nodes know each other', () => allKnow(nodes, 2 * MASTERS));
  for (let master = 0; master < MASTERS; master += 1)
    await nodes[MASTERS + master]!.client.call('CLUSTER', 'REPLICATE', nodes[master]!.id);
  await waitUntil('the cluster is ready', () => isHealthy(nodes));
  const owned = started.move();
  const addresses = nodes.map((node) => `127.0.0.1:${node.server.port}`);
  return {
    url: `redis-cluster://${addresses.join(',')}`,
    loseBusiestMaster: () => loseBusiestMaster(nodes),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

async function startNode(): Promise<Node> {
  const busPort = await findFreePort();
  const settings = {
    'maxmemory-policy': 'noeviction',
    save: '',
    appendonly: 'no',
    'cluster-enabled': 'yes',
    'cluster-port': String(busPort),
    'cluster-node-timeout': NODE_TIMEOUT_MS,
    'cluster-announce-ip': '127.0.0.1',
  };
  const server = await startRedis(Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]));
  const client = new Redis(server.url);
  client.on('error', () => {});
  return { server, client, id: String(await client.call('CLUSTER', 'MYID')), busPort };
}

async function stopNode({ server, client }: Node): Promise<void> {
  client.disconnect();
  await server.kill();
}

async function allKnow(nodes: Node[], count: number): Promise<boolean> {
  const infos = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO').then(String)));
  return infos.every((info) => info.includes(`cluster_known_nodes:${count}`));
}

async function isHealthy(nodes: Node[]): Promise<boolean> {
  const infos = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO').then(String)));
  const replications = await Promise.all(
    nodes.slice(MASTERS).map(({ client }) => client.info('replication')),
  );
  return (
    infos.every((info) => info.includes('cluster_state:ok')) &&
    replications.every((info) => info.includes('master_link_status:up'))
  );
}

async function loseBusiestMaster(nodes: Node[]): Promise<void> {
  const sizes = await Promise.all(nodes.map(keysOfMaster));
  const busiest = nodes[sizes.indexOf(Math.max(...sizes))]!;
  await lose(nodes, busiest);
  await isReplaced(nodes, busiest);
}

async function lose(nodes: Node[], lost: Node): Promise<void> {
  await stopNode(lost);
  nodes.splice(nodes.indexOf(lost), 1);
}

async function isReplaced(nodes: Node[], lost: Node): Promise<void> {
  await waitUntil('a replica has taken over', async () => {
    const seenFailed = await Promise.all(nodes.map((node) => describe(node, lost.id)));
    const isOut = seenFailed.every((line) => line.includes('fail') && !SLOTS_OF_LINE.test(line));
    return isOut && (await isServing(nodes));
  });
}

const SLOTS_OF_LINE = /(\d+)-(\d+)$/;

/** Returns a node's line about another node in CLUSTER NODES. */
async function describe({ client }: Node, id: string): Promise<string> {
  const lines = String(await client.call('CLUSTER', 'NODES')).split('\n');
  return lines.find((line) => line.startsWith(id))!;
}

async function isServing(nodes: Node[]): Promise<boolean> {
  const infos = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO').then(String)));
  return infos.every((info) => info.includes('cluster_state:ok'));
}

async function keysOfMaster({ client }: Node): Promise<number> {
  const isMaster = (await client.info('replication')).includes('role:master');
  return isMaster ? await client.dbsize() : -1;
}
