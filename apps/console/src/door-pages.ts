import type { DoorReport } from '@floodgate/door/console';
import type { FastifyInstance } from 'fastify';
import { html } from 'ghtml';
import { encodeQR } from 'qr';
import { addStream, liveHtml } from './live.ts';
import { readBy, type ConsoleContext } from './operations.ts';
import { adder } from './pages.ts';
import { actions, fields, link, passLink, table, type Row } from './view.ts';

/** The report of the command has all conflicts. */
const MOST_CONFLICTS = 100;

const SCOPES = ['door:read'] as const;

/** Adds the page of the doors of an event, and its stream of snapshots. */
export function addDoorPages(app: FastifyInstance, context: ConsoleContext) {
  const path = '/events/:eventId/door';
  const reportOf = (eventId: string) => readBy<DoorReport>(context, 'doorReport', { eventId });
  adder(app, context)(path, SCOPES, async ({ params: { eventId }, action }) => {
    const report = await reportOf(eventId);
    const gates = report.gates.map(({ id }) => id);
    const gateForms = report.gates.map(({ id: gateId, name }) =>
      action('gateUpdate', { eventId, gateId }, `Change ${name}`),
    );
    const deviceForms = report.devices.flatMap(({ id: deviceId, name, state }) => {
      const given = { eventId, deviceId };
      const code = state === 'not enrolled' ? [action('deviceCode', given, `Code for ${name}`)] : [];
      const isGone = state === 'revoked' || state === 'lost';
      return isGone ? [] : [...code, action('deviceRevoke', given, `Revoke ${name}`)];
    });
    return [
      `Doors of ${report.name}`,
      actions(link(`/events/${eventId}`, 'Event')),
      liveHtml(`/events/${eventId}/door`, reportHtml(report)),
      actions(action('gateCreate', { eventId }), ...gateForms),
      actions(action('deviceCreate', { eventId, gates }), ...deviceForms),
    ];
  });
  addStream(app, context, path, SCOPES, async (eventId) => {
    const take = async () => reportHtml(await reportOf(eventId));
    // Throws if there is no such event.
    await take();
    return take;
  });
}

/** Returns the state of the doors as HTML. All viewers get the same, so it has no links to forms. */
function reportHtml({ complete, open, except, gates, devices, conflicts, refused }: DoorReport) {
  const latest = conflicts.toReversed().slice(0, MOST_CONFLICTS);
  return [
    // Even when empty: the browser replaces single parts only if their number stays the same.
    html`<p role="alert">
      ${conflicts.length > 0 ? `Passes that were admitted twice: ${conflicts.length}` : ''}
    </p>`,
    html`<p>The list of scans is <strong>${complete ? 'complete' : 'not complete'}</strong>.</p>`,
    html`<ul>
      !${[...open, ...except].map((reason) => html`<li>${reason}</li>`)}
    </ul>`,
    table('Gates', gates, ({ name: gate, entryRule: rule, ...found }) => {
      const { id, admitted, inside, area, tickets, opensAt, closesAt } = found;
      return { id, gate, admitted, inside, area, rule, tickets: tickets ?? 'all', opensAt, closesAt };
    }),
    table('Devices', devices, ({ name: device, lastCounter: scans, missing, skewMs, ...found }) => {
      const { id, state, received, lastContactAt, version } = found;
      const ranges = missing.map(([first, last]) => (first === last ? first : `${first}–${last}`));
      const counts = { scans, received, missing: ranges.join(', ') };
      // The clock error is what the server subtracts. Zero has no sign.
      const clockErrorMs = lastContactAt && Math.round(-skewMs / 100) * 100;
      return { id, device, state, ...counts, lastContactAt, clockErrorMs, version };
    }),
    table('Conflicts, the latest first', latest, ({ passReference, area, first, again }) => ({
      pass: passLink(passReference),
      area,
      first: first.at,
      firstGate: first.gate,
      firstDevice: first.device,
      again: again.at,
      againGate: again.gate,
      againDevice: again.device,
    })),
    table('Refused scans', refused, ({ outcome: reason, letIn: letInOffline, ...row }) => {
      return { reason, ...row, letInOffline };
    }),
  ].join('\n');
}

/** Returns the code of a device as HTML: large, and as a QR code for its camera. */
export function codeHtml({ code, name, codeExpiresAt }: Row) {
  const picture = `data:image/svg+xml,${encodeURIComponent(encodeQR(code as string, 'svg', { border: 4 }))}`;
  return html`<p>Open /door/ of the API on the device, and scan or type the code.</p>
    <p class="code">${code}</p>
    <p><img class="qr" src="${picture}" alt="QR code of the code above" /></p>
    !${fields({ device: name, codeExpiresAt })}`;
}
