import type { Command } from 'commander';
import { createPartner, limitPartner, listPartners } from './partners.ts';
import {
  answeringFromDatabase,
  parseId,
  parseName,
  parseRateLimit,
  type Cli,
  Failure,
  record,
  table,
} from '@floodgate/command';

/** `floodgate partner …` */
export function addPartnerCommands(program: Command, cli: Cli): void {
  const partner = program.command('partner').description('the platforms that register people');
  addCreate(partner, cli);
  addList(partner, cli);
  addLimit(partner, cli);
}

function addCreate(partner: Command, cli: Cli): void {
  const create = partner
    .command('create')
    .description('add a partner')
    .argument('<name>', 'its name, unique', parseName);
  answeringFromDatabase(create, cli, async (db, _options: object, name: string) => {
    const created = await createPartner(db, name);
    return { document: created, text: record({ 'partner id': created.id, name: created.name }) };
  });
}

function addList(partner: Command, cli: Cli): void {
  const list = partner
    .command('list')
    .description('list partners, with their limits, open keys and granted events');
  answeringFromDatabase(list, cli, async (db) => {
    const partners = await listPartners(db);
    const rows = partners.map((row) => [
      row.id,
      row.name,
      row.requestsPerSecond,
      row.openKeys,
      row.grantedEvents,
      row.createdAt,
    ]);
    const headings = ['id', 'name', 'requests/s', 'open keys', 'events', 'created'];
    return { document: partners, text: table(headings, rows) };
  });
}

function addLimit(partner: Command, cli: Cli): void {
  const limit = partner
    .command('limit')
    .description("limit a partner's requests, over all API processes together")
    .argument('<partnerId>', 'the partner', parseId)
    .argument('<requestsPerSecond>', '1 to 1000000, or "none"', parseRateLimit);
  type Limit = ReturnType<typeof parseRateLimit>;
  answeringFromDatabase(limit, cli, async (db, _options: object, partnerId: number, given: Limit) => {
    const requestsPerSecond = given === 'none' ? null : given;
    if (!(await limitPartner(db, partnerId, requestsPerSecond))) throw new Failure('no such partner');
    return {
      document: { partnerId, requestsPerSecond },
      text: `partner ${partnerId}: ${requestsPerSecond === null ? 'no limit' : `${requestsPerSecond} requests a second`}`,
    };
  });
}
