import { counted } from '../counted.ts';

/** The words of forms about whom they concern, how many, and what follows. */
export const about = {
  ticket: (title: string, event: string, taken: string, capacity: string) =>
    `${[title, event].filter(Boolean).join(' · ')}: ${taken} of ${capacity} seats are taken.`,
  newTicket: 'It goes on sale at once, unless the sale starts later.',
  capacity: (taken: string) => `It cannot be lower than the number of seats that are taken: ${taken}.`,
  price: (taken: string) =>
    `${counted(taken, 'seat was sold; it keeps its price', 'seats were sold; they keep their price')}. ` +
    'The new price counts for later sales.',
  sale: 'Outside these times nobody can buy a seat. Seats that are held can still be confirmed.',
  texts: 'Partners show these texts to buyers.',
  waiting: 'When a seat becomes free, the first on the list gets an offer for this long.',
  stops: 'Partners can sell no further seat of it, from this second on.',
  held: 'Seats in baskets can still be bought, unless you end those baskets, too.',
  resumes: (left: string) => `Partners can sell it again: ${counted(left, 'seat is', 'seats are')} left.`,
  stopsAll: (tickets: string) => `The sale stops for: ${tickets || 'no ticket; none is on sale'}.`,
  resumesAll: (tickets: string) =>
    `The sale resumes for: ${tickets || 'no ticket; none was stopped with the others'}.`,
  allocation: (left: string) =>
    `${counted(left, 'seat is', 'seats are')} left. Seats that you reserve can be sold by this partner only.`,
  allocationOf: (partner: string) => `For ${partner}.`,
  newEvent: 'The event has neither tickets nor a time yet, so nobody can buy anything until you add them.',
  place: (sent: string) =>
    `${counted(sent, 'person has', 'people have')} an e-mail with the present time and place. ` +
    'A new one is sent only when you send it.',
  cancellation: 'Until when partners can cancel, and who gets an e-mail about it.',
  mail: 'The language of e-mails to attendees, and where their replies go.',
  money: 'The currency stays as soon as a seat is sold.',
  notifies: (sent: string) =>
    `An e-mail with these goes to all who got an older time or place: up to ${counted(sent, 'person', 'people')}.`,
  archive: 'It is no longer in the lists. Its registrations, e-mails and webhooks stay as they are.',
  restore: 'It is in the lists again.',
  grant: 'The partner can sell the event at once, with each open key of the mode of the event.',
  revoke: (partner: string, event: string) => `${partner} can no longer sell ${event}.`,
  revokeKeeps: 'Seats that it has sold stay valid.',
  move: 'Only an event without registrations, webhooks, e-mails, gates and allocations can move.',
  partner: (name: string, keys: string, events: string) =>
    `${name}: ${counted(keys, 'open key', 'open keys')}, ${counted(events, 'event', 'events')}.`,
  newPartner: 'It can sell nothing until it has a key, and an event is open to it.',
  enables: 'Its keys work again, and its webhooks resume.',
  disables:
    'Within 2 seconds every request with its keys is refused, and its webhooks stop. Its sold passes stay valid.',
  key: (partner: string, mode: string, id: string) => `Key ${id} of ${partner}, ${mode}.`,
  lastUsed: (time: string) => `Last used ${time}, or within the hour after.`,
  neverUsed: 'It was never used.',
  secretOnce: 'The secret is shown once, on the next page. Have a safe place for it ready.',
  rotates: 'The partner gets a second key. The old one works until the time you choose is over.',
  revokesKey: 'Every request with it is refused, from this second on. This cannot be undone.',
  webhook: (url: string, partner: string, event: string) => `${url} of ${partner}, for ${event}.`,
  webhookTest: 'One test message is sent now. The list of attempts shows whether it arrived.',
  webhookReplay: 'Everything since then is sent again, with new message ids.',
  webhookPause: 'No message is sent until you resume it. Nothing is lost for as long as entries are kept.',
  webhookResume: 'Messages continue where they stopped.',
  webhookDelete: 'Its secrets and its list of attempts are deleted. This cannot be undone.',
  mailEnable:
    'Each attendee gets the pass by e-mail. Those who were confirmed before get it as well, unless you choose ' +
    '“Only for later registrations”.',
  mailDisable: (waiting: string) =>
    `Nobody gets an e-mail any more, and what waits is dropped: ${counted(waiting, 'e-mail', 'e-mails')}. ` +
    'Enabling them again sends nothing twice to those who have their pass.',
  mailPause: (waiting: string) =>
    `No further e-mail is sent until you resume. Queued e-mails wait. Waiting now: ${waiting}.`,
  mailResume: (waiting: string) => `What waits is sent now. Waiting: ${waiting}.`,
  mailResendAll: (sent: string) =>
    `${counted(sent, 'person gets the e-mail with the pass', 'people get the e-mail with their pass')} again.`,
  mailTest: 'It shows whether the mail server takes e-mails of this service.',
  mailUnsuppress:
    'The mail server of this address refused e-mails for good. From now on e-mails are sent to it again; ' +
    'send the missing one yourself.',
  passVerify: 'Paste the text of the QR code of a pass.',
  passRotate: 'New passes are signed with the new key. Passes that people have stay valid.',
  passWithdraw: (key: string) =>
    `All passes that key ${key} has signed become invalid, at once and for good. Send them again ` +
    `before the doors open.`,
  newGate: 'Gates with the same area count the same people.',
  gate: (name: string, admitted: string, inside: string) =>
    `${name}: let in here: ${admitted}, inside now: ${inside}.`,
  newDevice: 'The next page shows a code, which the device scans. It is valid for 10 minutes.',
  deviceCode: 'An earlier code of this device no longer works.',
  device: (name: string, received: string) =>
    `${name}: ${counted(received, 'scan has', 'scans have')} arrived.`,
  deviceMisses: (missing: string) =>
    `Scans that are only on the device: ${missing}. It sends them when it is online.`,
  deviceRevoke: 'It lets nobody in any more, and erases its data when it is online. This cannot be undone.',
  registration: (person: string, ticket: string, event: string) =>
    `${person}: ${[ticket, event].filter(Boolean).join(', ')}.`,
  soldBy: (partner: string) => `Sold by ${partner}.`,
  wasAdmitted: 'This seat has let in a person already.',
  resends: (person: string, address: string) =>
    `${person} gets the e-mail with the pass again, at ${address}.`,
  resendsPass: 'The attendee gets the e-mail with the pass again.',
  resendsOther: (kind: string) => `The e-mail “${kind}” is sent again.`,
  cancelled: (person: string, ticket: string, event: string) =>
    `The registration of ${person} for ${[event, `(${ticket})`].filter(Boolean).join(' ')} is cancelled.`,
  cancels: 'The pass no longer opens the door, and the seat can be sold again. This cannot be undone.',
  cancelsPaid: (partner: string) => `${partner} gets it by webhook and list, and pays back the price.`,
  cancelsFree: (partner: string) => `${partner} gets it by webhook and list.`,
  cancelsAdmitted: 'The seat has let in a person. The report of the doors keeps it.',
  corrects:
    'The pass stays valid. Later e-mails have the new text, and none is sent now; send the pass again if it is needed.',
  replaces: (person: string) =>
    `${person} loses the seat, and the old pass no longer opens the door. The new person gets a pass of their own ` +
    'by e-mail, if e-mails of the event are on.',
  guestAdd:
    'The guest gets a seat of the ticket, also before and after the sale, and the pass by e-mail, if e-mails of the ' +
    'event are on. Nothing is paid.',
  guestImport:
    'A dry run says what would become of each row, and registers nobody. Nobody is registered twice, also if you ' +
    'send the list again.',
  redrives: (batches: string, registrations: string) =>
    `Tried again: ${counted(batches, 'failed batch', 'failed batches')} with ` +
    `${counted(registrations, 'registration', 'registrations')}.`,
  matches: (count: string) => `${counted(count, 'registration', 'registrations')}.`,
  job: (done: string, total: string) => `${done} of ${total} are done.`,
  jobPause: 'The job stops after the registrations that it is treating now, and goes on when you want.',
  jobResume: 'The job goes on where it stopped.',
  jobAbort: (left: string) =>
    'The job ends now, and cannot go on later. Its finished items stay done; ' +
    `${counted(left, 'registration is left as it is', 'registrations are left as they are')}.`,
  operator: (name: string, role: string) => `${name}: ${role} of all events.`,
  newOperator: 'A password is shown once, on the next page. Hand it over in a safe way.',
  role: 'It applies at once, also to open sessions.',
  operatorEmail: 'With this address, the operator signs in at the identity provider.',
  operatorDisable: 'Its sessions end, and it can no longer sign in.',
  operatorEnable: 'It can sign in again.',
  resetPassword:
    'The old password no longer works, and all sessions end. The new one is shown once, on the next page.',
  signOut: 'All its sessions end. It can sign in again.',
  takesRole: 'It loses what the role for this event allows. A role for all events stays.',
  token: (name: string) => `The token ${name}.`,
  session: (name: string) => `A session of ${name}.`,
  accessRevoke: 'It ends at once. This cannot be undone.',
};
