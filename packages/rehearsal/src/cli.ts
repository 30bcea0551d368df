import { writeFile } from 'node:fs/promises';
import { InvalidArgumentError, type Command } from '@commander-js/extra-typings';
import { answering, Failure, tableOf, type Cli } from '@floodgate/command';
import { parseDurationMs, parseId, parseText, parseWhole } from '@floodgate/command/arguments';

const KEY = 'REHEARSAL_SECRET_KEY';
function parseUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new InvalidArgumentError('Expected an address like https://tickets.example.');
}
const parseList = (text: string, before: string[] = []) => [...before, text];

/** `floodgate rehearse` */
export function addRehearseCommand(program: Command, cli: Cli): void {
  const rehearse = program
    .command('rehearse')
    .description(
      `register people who do not exist for a test event, as a launch does, and judge the answers; exit 1 if an objective is missed. Reads ${KEY}, a key for test events`,
    )
    .requiredOption('--url <url>', 'the address of the API or of its proxy', parseUrl)
    .requiredOption('--event <ref>', 'the x-event-ref of the test event', parseText)
    .option('--ticket <id>', 'the ticket; by default the one with the most seats left', parseId)
    .option('--rate <registrations>', 'registrations per second', parseWhole, 1_000)
    .option('--for <duration>', 'how long', parseDurationMs, 30_000)
    .option('--connections <number>', 'at most so many connections', parseWhole, 1_000)
    .option('--metrics <url>', 'the metrics of an API process or a worker; may be repeated', parseList)
    .option('--out <file>', 'where the report goes', parseText, 'rehearsal.html');
  answering(rehearse, cli, async ({ event: eventRef, ticket: ticketId, rate, for: ms, out, ...options }) => {
    const secretKey = cli.env[KEY];
    if (!secretKey) throw new Failure(`set ${KEY} to a key for test events`);
    const { figureText, reportOf } = await import('./report.ts');
    const run = await import('./rehearse.ts');
    const rehearsal = await run.rehearse({
      ...options,
      secretKey,
      eventRef,
      ticketId,
      perSecond: rate,
      seconds: ms / 1_000,
      metrics: options.metrics ?? [],
      onProgress: ({ sent, answered }) => cli.stderr.write(`sent ${sent}, answered ${answered}\n`),
    });
    await writeFile(out, reportOf(rehearsal));
    const { log: _log, ...document } = rehearsal;
    const missed = document.objectives.filter(({ isMet }) => !isMet).map(({ name }) => name);
    const rows = document.objectives.map((objective) => {
      const { name, atMost, unit, isMet } = objective;
      return {
        objective: name,
        'at most': `${atMost} ${unit}`.trimEnd(),
        measured: figureText(objective),
        met: isMet,
      };
    });
    const codes = Object.entries(document.figures.codes).map(([code, answers]) => ({ code, answers }));
    return {
      document,
      text: [tableOf(rows), tableOf(codes), ...document.advice, `report: ${out}`].join('\n\n'),
      ...(missed.length > 0 && { failure: `missed: ${missed.join('; ')}` }),
    };
  });
}
