import { connect, type Database } from '@floodgate/database';
import { reconcile } from '@floodgate/registrations';
import { findPrice, pricesOf } from '@floodgate/registrations/price';
import { sql } from 'kysely';
import { expect, inject, vi } from 'vitest';
import { Random } from '../faults/random.ts';
import { eventTest } from '../harness/event-test.ts';
import { moveToAnotherServer } from '../harness/move-shard.ts';
import { waitUntil } from '../harness/wait-until.ts';
import { createSales, OPERATION_NAMES, sellUntil, type Sales } from './drawn-sales.ts';
import { firstOfSeats, logChange, possiblePrices, readSales, type LoggedChange } from './price-log.ts';

const { test, given } = eventTest({ own: 'compares whole tables' });

// Prices change while seats are sold, held, offered, confirmed, changed and cancelled on several connections. The
// test knows when each change began and ended by the clock of the shard's server, and which seats were sold when it
// had the lock of the ticket. From that, and not from the stored prices, it computes what each seat can cost. On Citus, the
// shard is moved to another server meanwhile, and back.

const CHANGES = Number(process.env['PRICE_CHANGES'] ?? (inject('tier') === 'gate' ? 30 : 300));
const SEED = Number(process.env['PRICE_SEED'] ?? Date.now() % 2 ** 31);
const SELLERS = 4;
const FIRST_PRICE = 10;
const MOST_DRAWS = 100;
/** Moves of the shard. On Citus, a later sale has a lower serial after the second one. */
const MOVES = inject('engine') === 'citus' ? 2 : 0;
vi.setConfig({ testTimeout: 120_000 + CHANGES * 2_000 });

let sellers: Database[];

test.beforeAll(() => {
  const options = { connectionString: given.database.url, applicationName: 'tests', maxConnections: 1 };
  sellers = Array.from({ length: SELLERS }, () => connect(options));
});
test.afterAll(() => Promise.all(sellers.map((seller) => seller.destroy())));

/** After a move, waiting entries are served in the order of their serials, which is not that of their time. */
const isAboutOrder = (problem: string) => MOVES > 0 && problem.startsWith('waited while a later entry');

/** Returns the price after this number of changes. */
const priceNumber = (changes: number) => (FIRST_PRICE * 100 + changes) / 100;

/** Sells while the price of each ticket changes. Returns the changes by ticket. */
async function sellAndChange(sales: Sales): Promise<Map<number, LoggedChange[]>> {
  const random = new Random(SEED);
  const changes = new Map<number, LoggedChange[]>([sales.roomyId, sales.scarceId].map((id) => [id, []]));
  let isOver = false;
  let moves = 0;
  const moving = async () => {
    for (; moves < MOVES; moves += 1) {
      await moveToAnotherServer(given.db, given.gala.shardId);
      const before = logged().length;
      await waitUntil('some more prices have changed', () => logged().length > before + CHANGES / 4);
    }
  };
  const logged = () => [...changes.values()].flat();
  const selling = sellers.map((db) => sellUntil(() => isOver, db, sales, new Random(random.seed())));
  const changing = [...changes].map(async ([ticketId, log]) => {
    // No two prices are the same, so a price names its change. Every operation has happened before the end.
    const isEnough = () =>
      log.length >= CHANGES &&
      moves === MOVES &&
      OPERATION_NAMES.every((name) => (sales.uses[name] ?? 0) > 0);
    while (!isEnough() && log.length < CHANGES + MOST_DRAWS * (1 + MOVES))
      log.push(await logChange(given.db, given.gala.shardId, ticketId, priceNumber(log.length + 1)));
  });
  try {
    await Promise.race([Promise.all([...changing, moving()]), Promise.all(selling)]);
  } finally {
    isOver = true;
    await Promise.all([...changing, ...selling]);
  }
  return changes;
}

test('every registration has the price that was valid when its seat was reserved, whatever became of it', async () => {
  const { shardId, eventId } = given.gala;
  const sales = await createSales(given.gala, FIRST_PRICE);
  const changes = await sellAndChange(sales);
  expect(OPERATION_NAMES.filter((name) => !sales.uses[name])).toEqual([]);

  const stored = await readSales(given.db, shardId, eventId);
  const firstOf = firstOfSeats(stored);
  const { rows } = await sql<{ serial: number; price: number }>`
    select * from ${pricesOf(given.gala)} priced`.execute(given.db);
  const prices = new Map(rows.map(({ serial, price }) => [serial, price]));
  expect(rows).toHaveLength(stored.length);
  const wrong = stored.flatMap(({ serial, ticketId }) => {
    const first = firstOf.get(serial)!;
    const possible = possiblePrices(first, FIRST_PRICE, changes.get(ticketId)!);
    const price = prices.get(serial)!;
    return possible.includes(price) ? [] : [{ serial, price, possible, first }];
  });
  expect(wrong, `PRICE_SEED=${SEED}`).toEqual([]);
  // Many prices were paid, and most seats can have only one: otherwise this proves nothing.
  expect(new Set(prices.values()).size).toBeGreaterThan(CHANGES / 2);
  expect(await findPrice(given.db, given.gala, stored[0]!.serial)).toBe(prices.get(stored[0]!.serial));
  const differences = await reconcile(given.db);
  expect(differences.filter(({ problem }) => !isAboutOrder(problem))).toEqual([]);
});
