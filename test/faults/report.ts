import type { Violation } from './check-history.ts';
import type { ClientCampaignResult } from './client-campaign.ts';
import type { Missed } from './reached.ts';
import type { RoundResult } from './run-round.ts';

const SHOWN = 5;
const NOTED_STOP_MS = 1_000;
const KINDS: Violation['kind'][] = ['lost', 'doubled', 'oversold', 'published twice', 'stuck', 'wrong'];

const namesOf = (result: RoundResult) => result.faults.map(({ name }) => name).join(' + ');
const seconds = (ms = Number.NaN) => `${(ms / 1000).toFixed(2)} s`;

/** The upper one of two in the middle; undefined where no value is known. */
function middleOf(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined).toSorted((a, b) => a - b);
  return known[Math.floor(known.length / 2)];
}

/** One line about a round. */
export function describeRound(name: string, result: RoundResult): string {
  const verdict = result.violations.length === 0 ? 'ok' : `${result.violations.length} VIOLATIONS`;
  const recovered = `serving after ${seconds(result.servingAfterMs)}, finalized after ${seconds(result.finalizedAfterMs)}`;
  const ends = Object.entries(result.ends).toSorted(([a], [b]) => a.localeCompare(b));
  const answers = ends.map(([label, count]) => `${count} × ${label}`).join(', ');
  const stop =
    result.longestStopMs > NOTED_STOP_MS
      ? `; the suite stood still for ${seconds(result.longestStopMs)}`
      : '';
  const excused = result.excused > 0 ? `; ${result.excused} failures while the machine stood still` : '';
  const undecided = result.isDecided ? '' : '; the second checker could not decide';
  return `${name} ${namesOf(result)} (${result.holdMs} ms): ${answers}; ${recovered}${stop}${excused}${undecided}: ${verdict}`;
}

/** The offending part of a history, and how to run it again. */
export function describeViolations(replay: string, result: RoundResult): string {
  const warnings = Object.entries(result.warnings).flatMap(([name, lines]) =>
    lines.map((line) => `    ${name} warned: ${line}`),
  );
  const file =
    result.file === '' ? [] : [`    history: ${result.file} (npm run test:history -- ${result.file})`];
  return [listViolations(result.violations), ...warnings, ...file, `    again: ${replay}`].join('\n');
}

function listViolations(violations: readonly Violation[]): string {
  const shown = violations.slice(0, SHOWN).map(({ kind, problem, request }) => {
    const history = (request?.attempts ?? []).map(
      ({ api, sentAt, endedAt, end }) =>
        `      ${sentAt.toFixed(0)}–${endedAt.toFixed(0)} ms, API ${api}: ${JSON.stringify(end)}`,
    );
    const subject = request ? `${request.isKeyed ? 'keyed' : 'unkeyed'} request ${request.id} ` : '';
    return [`    ${kind}: ${subject}${problem}`, ...history].join('\n');
  });
  const rest = violations.length - shown.length;
  return [...shown, ...(rest > 0 ? [`    and ${rest} more`] : [])].join('\n');
}

/** What came of registering through the client. */
export function describeClientCampaign(result: ClientCampaignResult): string {
  const { faults, granted, soldOut, unknown, stored, seconds: elapsed, violations, openAt, file } = result;
  const leastOpen = Math.min(...Object.values(openAt));
  return [
    `${faults.length} faults in ${elapsed.toFixed(0)} s: ${granted} granted, ${soldOut} sold out, ${stored} stored, ` +
      `${unknown} asked again, at least ${leastOpen} open when a fault struck; ${countViolations(violations)}`,
    ...(violations.length > 0 ? [listViolations(violations), `history: ${file}`] : []),
  ].join('\n');
}

const countViolations = (violations: readonly Violation[]) =>
  KINDS.map((kind) => `${violations.filter((one) => one.kind === kind).length} ${kind}`).join(', ');

/** The listed pairs that a campaign has not met; empty if there are none. */
export const describeMissed = (missed: readonly Missed[]): string =>
  missed.map(({ fault, state }) => `missed: ${fault} × ${state}`).join('\n');

/** Time to recover after each kind of fault alone, as a Markdown table, and what was broken in all rounds. */
export function recoveryTable(results: readonly RoundResult[]): string {
  const alone = Map.groupBy(
    results.filter(({ faults }) => faults.length === 1),
    namesOf,
  );
  const rows = [...alone].map(([name, rounds]) => {
    const serving = rounds.map(({ servingAfterMs }) => servingAfterMs);
    const finalized = rounds.map(({ finalizedAfterMs }) => finalizedAfterMs);
    const cells = [serving, finalized].flatMap((times) =>
      [middleOf(times), Math.max(...times)].map((ms) => seconds(ms)),
    );
    return `| ${[name, rounds.length, ...cells].join(' | ')} |`;
  });
  const violations = results.flatMap((result) => result.violations);
  const sumOf = (count: (result: RoundResult) => number | undefined) =>
    results.reduce((sum, result) => sum + (count(result) ?? 0), 0);
  const names = new Set(results.flatMap(({ uses }) => Object.keys(uses)));
  const uses = [...names].map((name) => `, ${sumOf((result) => result.uses[name])} ${name}`).join('');
  return [
    '| fault | rounds | serving again: median | worst | finalized: median | worst |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows.toSorted(),
    '',
    `${results.length} rounds, ${sumOf(({ granted }) => granted)} registrations${uses}: ${countViolations(violations)}; ` +
      `${sumOf(({ excused }) => excused)} failures while the machine stood still; the second checker decided ` +
      `${sumOf(({ isDecided }) => Number(isDecided))}`,
  ].join('\n');
}
