import { ROLE_NAMES } from '@floodgate/operators';
import { html } from 'ghtml';
import { askedHtml } from '../forms/sent.ts';
import { actions, card, chip, facts, grid, NOTHING, rows, Html } from '../view/html.ts';
import { listing } from '../view/listing.ts';
import { valueWords } from '../words/index.ts';
import { changesHtml } from './changes.ts';
import { namesIn } from './subjects.ts';
import { eventPage, type EventPageRequest } from './event-page.ts';
import { outdatedProblems } from './event-problems.ts';

/** Changes of an event on its page. The audit log has all. */
const LATEST = 10;

/** Shows the settings of an event by subject, each with its form, and who may do what. */
export const showSettings = eventPage('settings', async (page) => ({
  parts: [
    await tellHtml(page),
    grid(
      placeCard(page),
      cancellationCard(page),
      mailCard(page),
      moneyCard(page),
      salesCard(page),
      await endCard(page),
    ),
    await rolesCard(page),
    await changesCard(page),
  ],
  help: 'operate/console',
}));

/** Resolves to what is left to do after a move: the holders have e-mails and calendars with the old time. */
async function tellHtml(page: EventPageRequest) {
  const [outdated] = await outdatedProblems(page);
  if (!outdated) return '';
  const { mark, text, remedy } = outdated;
  return html`<section class="card notice" role="status">
    <p>!${chip('warn', mark).text} ${text}</p>
    !${actions(remedy)}
  </section>`;
}

/** Returns the link to a part of the form of an event. */
const change = (
  { action, operations, event, words }: EventPageRequest,
  part: 'place' | 'cancellation' | 'mail' | 'money',
) => actions(action(operations.eventUpdate, { eventId: event.id }, words.settings.change[part], { part }));

function placeCard(page: EventPageRequest) {
  const { event, words, format } = page;
  const { settings } = words;
  const { name, venue, startsAt, endsAt, timeZone } = event;
  const list = facts(
    [settings.name, name],
    [settings.venue, venue],
    [settings.starts, format.time(startsAt)],
    [settings.ends, format.time(endsAt)],
    [settings.zone, timeZone ?? settings.noZone],
  );
  return card(settings.place, list + change(page, 'place'), 6);
}

function cancellationCard(page: EventPageRequest) {
  const { event, words, format } = page;
  const { settings } = words;
  const tells = (isTold: boolean) => (isTold ? settings.mailed : settings.notMailed);
  const list = facts(
    [settings.cancelUntil, format.time(event.cancelUntil) ?? settings.always],
    [settings.operatorCancels, tells(event.mailOperatorCancels)],
    [settings.partnerCancels, tells(event.mailPartnerCancels)],
  );
  return card(settings.cancellation, list + change(page, 'cancellation'), 6);
}

function mailCard(page: EventPageRequest) {
  const { event, words } = page;
  const { settings } = words;
  const list = facts(
    [settings.language, settings.languages[event.language]],
    [settings.replyTo, event.replyTo],
  );
  return card(settings.mail, list + change(page, 'mail'), 6);
}

function moneyCard(page: EventPageRequest) {
  const { event, words } = page;
  const { settings } = words;
  const list = facts([settings.currency, event.currency ?? settings.noCurrency]);
  return card(
    settings.money,
    list + html`<p class="hint">${settings.currencyStays}</p>` + change(page, 'money'),
    6,
  );
}

/** The choices at the creation of the event, which cannot change. */
function salesCard({ event, words, format }: EventPageRequest) {
  const { settings } = words;
  const list = facts(
    [settings.mode, settings.modes[event.mode]],
    [settings.prefix, event.passPrefix],
    [settings.duplicates, settings.policies[event.duplicatePolicy]],
    [settings.duplicatesOf, settings.scopes[event.duplicateScope]],
    [settings.reference, event.ref],
    [settings.created, format.time(event.createdAt)],
  );
  return card(settings.fixed, list, 6);
}

/** Resolves to the ways to end an event, each with what follows. */
async function endCard({ event, words, action, operations, read }: EventPageRequest) {
  const { settings } = words;
  const { id: eventId, archivedAt, calledOffAt } = event;
  const shards = (await read(operations.shardList, {})) ?? [];
  const archive = archivedAt
    ? action(operations.eventRestore, { eventId }, settings.restore)
    : action(operations.eventArchive, { eventId }, settings.archive);
  const callOff = calledOffAt
    ? NOTHING
    : action(operations.eventCallOff, { eventId }, settings.callOff, { kind: 'danger' });
  const move = shards.length > 1 ? action(operations.eventMove, { eventId }, settings.move) : NOTHING;
  const ways = [
    { link: archive, follows: archivedAt ? settings.restoreFollows : settings.archiveFollows },
    { link: callOff, follows: settings.callOffFollows },
    { link: move, follows: settings.moveFollows },
  ].filter(({ link }) => link.text !== '');
  if (ways.length === 0) return '';
  return card(
    settings.end,
    rows(
      ...ways.map(
        ({ link, follows }) =>
          new Html(
            html`<p>${follows}</p>
              !${actions(link)}`,
          ),
      ),
    ),
    6,
  );
}

/** Resolves to the people with a role for this event only. */
async function rolesCard(page: EventPageRequest) {
  const { read, operations, event, words, format, action } = page;
  const { settings } = words;
  const { id: eventId } = event;
  const operators = await read(operations.eventOperators, { eventId });
  if (!operators) return '';
  const table = listing({
    caption: settings.roles,
    things: operators,
    empty: settings.noRoles,
    format,
    columns: [
      { head: settings.operator, cell: ({ name }) => name },
      { head: settings.role, cell: ({ role }) => valueWords(words, role) },
      {
        head: settings.state,
        cell: ({ disabledAt }) => (disabledAt ? chip('bad', settings.disabled) : null),
      },
      {
        head: '',
        cell: ({ name }) =>
          action(operations.operatorRevoke, { eventId, name }, settings.takeRole, { of: name }),
      },
    ],
  });
  return card(
    settings.roles,
    html`<p class="hint">${settings.aboutRoles}</p>` + table + (await giveRoleHtml(page)),
  );
}

/** Resolves to the form that gives somebody a role: the person and the role are chosen. */
async function giveRoleHtml({ read, may, operations, event, words, action }: EventPageRequest) {
  if (!may(operations.operatorGrant.scope)) return '';
  const { settings, forms } = words;
  const all = await read(operations.operatorList, {});
  if (!all) return actions(action(operations.operatorGrant, { eventId: event.id }, settings.giveRole));
  const names = all.filter(({ disabledAt }) => !disabledAt).map(({ name }) => name);
  return html`<form class="filter" method="post" action="/do/operatorGrant">
    <input type="hidden" name="eventId" value="${event.id}" />
    <input type="hidden" name="back" value="/events/${event.id}/settings" />
    !${askedHtml('name', 'role')}
    <label for="name">${settings.operator}</label>
    <select id="name" name="name" required>
      <option value="">${forms.choose}</option>
      !${names.map((name) => html`<option value="${name}">${name}</option>`)}
    </select>
    <label for="role">${settings.role}</label>
    <select id="role" name="role">
      !${ROLE_NAMES.map((role) => html`<option value="${role}">${valueWords(words, role)}</option>`)}
    </select>
    <button>${settings.giveRole}</button>
  </form>`;
}

async function changesCard(page: EventPageRequest) {
  const { read, operations, event, words } = page;
  const changes = await read(operations.auditList, { subject: `event:${event.id}`, limit: LATEST });
  if (!changes) return '';
  const ofSettings = changes.filter(({ after }) => after?.['outdatedEmails'] === undefined);
  return card(
    words.tickets.changes,
    await changesHtml(page, ofSettings, await namesIn(page, ofSettings), { withUndo: true }),
  );
}
