import type { DoorReport } from '@floodgate/door/console';
import type { FastifyInstance } from 'fastify';
import { SHARED_PAGE } from '@floodgate/operators';
import { html } from 'ghtml';
import { addStream, liveHtml } from './live-stream.ts';
import { readBy, type ConsoleContext } from './operations.ts';
import { adder, type PageRequest } from './add-page.ts';
import { actions, cellsOf, link, passLink, table, type Html } from './view.ts';

/** The report of the command has all conflicts. */
const MOST_CONFLICTS = 100;

const SCOPES = ['door:read'] as const;

type Forms = (report: DoorReport, eventId: string, request: PageRequest) => Html[];

/**
 * The pages of the doors: what each shows of the report, and the changes that it offers. All viewers get the
 * same report, so it has no forms.
 */
const PAGES: { name: string; path: string; show: (report: DoorReport) => string[]; forms?: Forms }[] = [
  {
    name: 'Gates',
    path: '',
    show: showGates,
    forms: ({ gates }, eventId, { operations, action }) => [
      action(operations.gateCreate, { eventId }),
      ...gates.map(({ id: gateId, name }) =>
        action(operations.gateUpdate, { eventId, gateId }, `Change ${name}`),
      ),
    ],
  },
  { name: 'Devices', path: '/devices', show: showDevices, forms: formsOfDevices },
  { name: 'Conflicts', path: '/conflicts', show: showConflicts },
];

/** Adds the pages of the doors of an event, each with its stream of snapshots. */
export function addDoorPages(app: FastifyInstance, context: ConsoleContext) {
  // All viewers get the same snapshots, so none has a whole pass reference.
  const reportOf = (eventId: string) =>
    readBy(context, context.operations.doorReport, { eventId }, SHARED_PAGE);
  for (const { name, path, show, forms } of PAGES) {
    const htmlOf = (report: DoorReport) => [alertOf(report), ...show(report)].join('\n');
    adder(app, context)(`/events/:eventId/door${path}`, SCOPES, async (request) => {
      const { eventId } = request.params;
      const report = await reportOf(eventId);
      const address = `/events/${eventId}/door`;
      return [
        `${name} of ${report.name}`,
        actions(
          link(`/events/${eventId}`, 'Event'),
          ...PAGES.map((one) => link(address + one.path, one.name)),
        ),
        liveHtml(address + path, htmlOf(report)),
        actions(...(forms?.(report, eventId, request) ?? [])),
      ];
    });
    addStream(app, context, `/events/:eventId/door${path}`, SCOPES, (eventId) => ({
      key: eventId,
      admits: () => true,
      open: async () => {
        const take = async () => htmlOf(await reportOf(eventId));
        // Throws if there is no such event.
        await take();
        return take;
      },
    }));
  }
}

/** Even when empty: the browser replaces single parts only if their number stays the same. */
const alertOf = ({ conflicts, cancelled, proved }: DoorReport) =>
  html`<p role="alert">
    ${conflicts.length > 0 ? `Seats that were admitted twice: ${conflicts.length}. ` : ''}
    ${cancelled.length > 0 ? `Cancelled seats that were admitted: ${cancelled.length}. ` : ''}
    ${proved ? '' : 'A ticket let in more people than it has seats.'}
  </p>`;

function showGates({ complete, open, except, gates }: DoorReport) {
  return [
    html`<p>The list of scans is <strong>${complete ? 'complete' : 'not complete'}</strong>.</p>`,
    html`<ul>
      !${[...open, ...except].map((reason) => html`<li>${reason}</li>`)}
    </ul>`,
    table('Gates', gates, ({ name: gate, entryRule: rule, ...found }) => {
      const { id, admitted, inside, area, tickets, opensAt, closesAt } = found;
      return { id, gate, admitted, inside, area, rule, tickets: tickets ?? 'all', opensAt, closesAt };
    }),
  ];
}

function showDevices({ devices }: DoorReport) {
  return [
    table('Devices', devices, ({ name: device, lastCounter: scans, missing, skewMs, ...found }) => {
      const { id, state, received, lastContactAt, version } = found;
      const ranges = missing.map(([first, last]) => (first === last ? first : `${first}–${last}`));
      const counts = { scans, received, undone: found.undone, missing: ranges.join(', ') };
      // The clock error is what the server subtracts. Zero has no sign.
      const clockErrorMs = lastContactAt && Math.round(-skewMs / 100) * 100;
      return { id, device, state, ...counts, lastContactAt, clockErrorMs, version };
    }),
  ];
}

function formsOfDevices({ gates, devices }: DoorReport, eventId: string, request: PageRequest) {
  const { operations, action } = request;
  const changes = devices.flatMap(({ id: deviceId, name, state }) => {
    const given = { eventId, deviceId };
    const code = state === 'not enrolled' ? [action(operations.deviceCode, given, `Code for ${name}`)] : [];
    const isGone = state === 'revoked' || state === 'lost';
    return isGone ? [] : [...code, action(operations.deviceRevoke, given, `Revoke ${name}`)];
  });
  return [action(operations.deviceCreate, { eventId, gates: gates.map(({ id }) => id) }), ...changes];
}

function showConflicts({ conflicts, refused, tickets, cancelled, letIn }: DoorReport) {
  const latest = <Item>(all: readonly Item[]) => all.toReversed().slice(0, MOST_CONFLICTS);
  return [
    table('People and seats', tickets, (row) =>
      cellsOf(row, 'ticket', 'area', 'sold', 'people', 'exceptions'),
    ),
    table('Conflicts, the latest first', latest(conflicts), ({ area, first, again }) => ({
      firstPass: passLink(first.passReference),
      area,
      first: first.at,
      firstGate: first.gate,
      firstDevice: first.device,
      againPass: passLink(again.passReference),
      again: again.at,
      againGate: again.gate,
      againDevice: again.device,
    })),
    table('Cancelled seats that were admitted, the latest first', latest(cancelled), (one) => ({
      pass: passLink(one.passReference),
      ...cellsOf(one, 'cancelledAt', 'area', 'at', 'gate', 'device'),
    })),
    table('Let in offline, and refused by the server, the latest first', latest(letIn), (one) => {
      const { passReference, seat } = one;
      return {
        pass: passReference && passLink(passReference),
        ...cellsOf(one, 'reason', 'at', 'area', 'gate', 'device'),
        admittedPass: seat && passLink(seat.passReference),
        admitted: seat?.at,
        admittedDevice: seat?.device,
      };
    }),
    table('Refused scans', refused, ({ outcome: reason, scans, letIn: letInOffline }) => {
      return { reason, scans, letInOffline };
    }),
  ];
}
