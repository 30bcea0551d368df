import type { Command } from 'commander';
import { createPartner, listPartners } from '@floodgate/database';
import { answeringFromDatabase } from './actions.ts';
import { parseName } from './arguments.ts';
import type { Cli } from './cli.ts';
import { record, table } from './output.ts';

/** `floodgate partner …` */
export function addPartnerCommands(program: Command, cli: Cli): void {
  const partner = program.command('partner').description('the platforms that register people');

  const create = partner
    .command('create')
    .description('add a partner')
    .argument('<name>', 'its name, unique', parseName);
  answeringFromDatabase(create, cli, async (db, _options: object, name: string) => {
    const created = await createPartner(db, name);
    return { document: created, text: record({ 'partner id': created.id, name: created.name }) };
  });

  const list = partner.command('list').description('list partners, with their open keys and granted events');
  answeringFromDatabase(list, cli, async (db) => {
    const partners = await listPartners(db);
    const rows = partners.map((row) => [row.id, row.name, row.openKeys, row.grantedEvents, row.createdAt]);
    return { document: partners, text: table(['id', 'name', 'open keys', 'events', 'created'], rows) };
  });
}
