import type { Command } from '@commander-js/extra-typings';
import {
  answeringChange,
  answeringFromDatabase,
  parseId,
  parseRateLimit,
  parseText,
  record,
  tableOf,
  type Cli,
} from '@floodgate/command';

export { addKeyCommands } from './keys/command.ts';

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
    .argument('<name>', 'its name, unique', parseText);
  answeringChange(create, cli, async (db, actor, _options, name) => {
    const { perform, createPartnerAction } = await import('./actions.ts');
    const created = await perform(db, createPartnerAction, { name }, actor);
    return { document: created, text: record({ 'partner id': created.id, name: created.name }) };
  });
}

function addList(partner: Command, cli: Cli): void {
  const list = partner
    .command('list')
    .description('list partners, with their limits, open keys and granted events');
  answeringFromDatabase(list, cli, async (db) => {
    const { listPartners } = await import('./list-partners.ts');
    const partners = await listPartners(db);
    const rows = partners.map((row) => ({
      id: row.id,
      name: row.name,
      'requests/s': row.requestsPerSecond,
      'open keys': row.openKeys,
      events: row.grantedEvents,
      created: row.createdAt,
    }));
    return { document: partners, text: tableOf(rows) };
  });
}

function addLimit(partner: Command, cli: Cli): void {
  const limit = partner
    .command('limit')
    .description("limit a partner's requests, over all API processes together")
    .argument('<partnerId>', 'the partner', parseId)
    .argument('<requestsPerSecond>', '1 to 1000000, or "none"', parseRateLimit);
  answeringChange(limit, cli, async (db, actor, _options, partnerId, given) => {
    const requestsPerSecond = given === 'none' ? null : given;
    const { perform, limitPartnerAction } = await import('./actions.ts');
    const limited = await perform(db, limitPartnerAction, { partnerId, requestsPerSecond }, actor);
    const told = requestsPerSecond === null ? 'no limit' : `${requestsPerSecond} requests a second`;
    return { document: limited, text: `partner ${partnerId}: ${told}` };
  });
}
