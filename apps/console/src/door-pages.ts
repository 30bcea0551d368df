import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { encodeQR } from 'qr';
import { addStream, liveHtml } from './live.ts';
import type { ConsoleContext, Operations } from './operations.ts';
import { actions, adder, type Content, type PageRequest, type Row } from './pages.ts';
import { fields, link, table } from './view.ts';

/** The report of the command has all conflicts. */
const MOST_CONFLICTS = 100;

/** The result of the operation doorReport. */
type Report = Record<'gates' | 'devices' | 'conflicts' | 'refused', Row[]> &
  Record<'open' | 'except', string[]> & { name: string; complete: boolean };

/** Adds the page of the doors of an event, and its stream of snapshots. */
export function addDoorPages(app: FastifyInstance, operations: Operations, context: ConsoleContext): void {
  const path = '/events/:eventId/door';
  adder(app, operations, context)(path, 'door:read', doorPage);
  addStream(app, context, { path, scopes: ['door:read'] }, async (eventId) => {
    const report = operations.get('doorReport')!;
    const take = async () => reportHtml((await report.run(context, { eventId }, '')) as Report);
    // Throws if there is no such event.
    await take();
    return take;
  });
}

async function doorPage({ params, read, action }: PageRequest): Promise<Content> {
  const eventId = Number(params['eventId']);
  const report = (await read<Report>('doorReport', { eventId }))!;
  const gates = report.gates.map(({ id }) => id).join(',');
  const gateForms = report.gates.map(({ id: gateId, name }) =>
    action('gateUpdate', { eventId, gateId }, `Change ${name}`),
  );
  const deviceForms = report.devices.flatMap(({ id: deviceId, name, state }) => {
    const given = { eventId, deviceId };
    const code = state === 'not enrolled' ? [action('deviceCode', given, `Code for ${name}`)] : [];
    const isGone = state === 'revoked' || state === 'lost';
    return isGone ? [] : [...code, action('deviceRevoke', given, `Revoke ${name}`)];
  });
  const main = [
    actions(link(`/events/${eventId}`, 'Event')),
    liveHtml(`/events/${eventId}/door`, reportHtml(report)),
    actions(action('gateCreate', { eventId }), ...gateForms),
    actions(action('deviceCreate', { eventId, gates }), ...deviceForms),
  ];
  return { title: `Doors of ${report.name}`, main: main.join('\n') };
}

/** Returns the state of the doors as HTML. All viewers get the same, so it has no links to forms. */
function reportHtml({ complete, open, except, gates, devices, conflicts, refused }: Report): string {
  const reasons = [...open, ...except].map((reason) => html`<li>${reason}</li>`);
  const refusedRows = refused.map(({ outcome, letIn, ...row }) => ({
    reason: outcome,
    ...row,
    letInOffline: letIn,
  }));
  return [
    html`<p role="alert">
      ${conflicts.length > 0 ? `Passes that were admitted twice: ${conflicts.length}` : ''}
    </p>`,
    html`<p>The list of scans is <strong>${complete ? 'complete' : 'not complete'}</strong>.</p>`,
    html`<ul>
      !${reasons}
    </ul>`,
    table('Gates', gates.map(gateRow)),
    table('Devices', devices.map(deviceRow)),
    table('Conflicts, the latest first', conflicts.toReversed().slice(0, MOST_CONFLICTS).map(conflictRow)),
    table('Refused scans', refusedRows),
  ].join('\n');
}

function gateRow({ id, name, area, entryRule, tickets, admitted, inside, opensAt, closesAt }: Row) {
  const rules = { area, rule: entryRule, tickets: tickets ?? 'all', opensAt, closesAt };
  return { id, gate: name, admitted, inside, ...rules };
}

function deviceRow({ id, name, state, version, lastContactAt, skewMs, ...counters }: Row) {
  const { lastCounter, received, missing } = counters;
  const ranges = (missing as [number, number][]).map(([first, last]) =>
    first === last ? String(first) : `${first}–${last}`,
  );
  // The clock error is what the server subtracts. Zero has no sign.
  const clock = { clockErrorMs: lastContactAt && Math.round(-skewMs / 100) * 100 };
  const scans = { scans: lastCounter, received, missing: ranges.join(', ') };
  return { id, device: name, state, ...scans, lastContactAt, ...clock, version };
}

const conflictRow = ({ passReference, area, first, again }: Row) => ({
  pass: link(`/registrations?${new URLSearchParams({ passReference }).toString()}`, passReference),
  area,
  first: first.at,
  firstGate: first.gate,
  firstDevice: first.device,
  again: again.at,
  againGate: again.gate,
  againDevice: again.device,
});

/** Returns the code of a device as HTML: large, and as a QR code for its camera. */
export function codeHtml({ code, name, codeExpiresAt }: Row): string {
  const picture = `data:image/svg+xml,${encodeURIComponent(encodeQR(code as string, 'svg', { border: 4 }))}`;
  return html`<p>Open /door/ of the API on the device, and scan or type the code.</p>
    <p class="code">${code}</p>
    <p><img class="qr" src="${picture}" alt="QR code of the code above" /></p>
    !${fields({ device: name, codeExpiresAt })}`;
}
