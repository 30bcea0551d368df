import type { Language } from '@floodgate/database';

const ENGLISH = {
  greeting: (name: string | null) => (name === null ? 'Hello,' : `Hello ${name},`),
  why: (eventName: string) =>
    `You get this e-mail because you were registered for ${eventName} with this address.`,
  when: 'When',
  where: 'Where',
  ticket: 'Ticket',
  seat: 'Table or seat',
  seats: 'Number of seats',
  until: 'Offered until',
  passReference: 'Pass reference',
  picture: {
    alt: 'QR code of your pass',
    caption: 'Show this code at the door',
    hint: 'No code visible? It is attached as pass.png.',
  },
  confirmation: (eventName: string) => ({
    subject: `Your pass for ${eventName}`,
    preview: 'You are registered. Show the QR code at the door.',
    news: `You are registered for ${eventName}.`,
    calendar: 'The attached file adds the event to your calendar.',
  }),
  'event-updated': (eventName: string) => ({
    subject: `New time or place: ${eventName}`,
    preview: 'Please note the new time and place. Your pass stays valid.',
    news: `The time or place of ${eventName} has changed.`,
    next: 'The pass that you already have stays valid. You need no new one.',
    calendar: 'The attached file updates the entry in your calendar.',
  }),
  'waiting-offer': (eventName: string) => ({
    subject: `Your turn on the waiting list: ${eventName}`,
    preview: 'The seats are held for you. Accept the offer before it ends.',
    news: `It is your turn on the waiting list for ${eventName}. The seats are held for you.`,
    next: 'To accept the offer, go to the shop where you joined the waiting list. If you do not accept in time, others get the seats.',
    calendar: null,
    why: `You get this e-mail because you joined the waiting list for ${eventName} with this address.`,
  }),
};

const GERMAN: Words = {
  greeting: (name) => (name === null ? 'Guten Tag,' : `Guten Tag ${name},`),
  why: (eventName) =>
    `Sie erhalten diese E-Mail, weil Sie mit dieser Adresse angemeldet wurden: ${eventName}.`,
  when: 'Wann',
  where: 'Wo',
  ticket: 'Karte',
  seat: 'Tisch oder Platz',
  seats: 'Anzahl der Plätze',
  until: 'Angebot gilt bis',
  passReference: 'Kartennummer',
  picture: {
    alt: 'QR-Code Ihrer Eintrittskarte',
    caption: 'Zeigen Sie diesen Code am Einlass',
    hint: 'Kein Code zu sehen? Er ist als pass.png angehängt.',
  },
  confirmation: (eventName) => ({
    subject: `Ihre Eintrittskarte: ${eventName}`,
    preview: 'Sie sind angemeldet. Zeigen Sie am Einlass den QR-Code.',
    news: `Sie sind angemeldet: ${eventName}.`,
    calendar: 'Mit der angehängten Datei kommt der Termin in Ihren Kalender.',
  }),
  'event-updated': (eventName) => ({
    subject: `Neue Zeit oder neuer Ort: ${eventName}`,
    preview: 'Bitte beachten Sie die neue Zeit und den neuen Ort. Ihre Eintrittskarte bleibt gültig.',
    news: `Zeit oder Ort haben sich geändert: ${eventName}.`,
    next: 'Ihre Eintrittskarte bleibt gültig. Sie brauchen keine neue.',
    calendar: 'Die angehängte Datei aktualisiert den Termin in Ihrem Kalender.',
  }),
  'waiting-offer': (eventName) => ({
    subject: `Sie sind auf der Warteliste an der Reihe: ${eventName}`,
    preview: 'Die Plätze sind für Sie reserviert. Nehmen Sie das Angebot rechtzeitig an.',
    news: `Sie sind auf der Warteliste an der Reihe: ${eventName}. Die Plätze sind für Sie reserviert.`,
    next: 'Um das Angebot anzunehmen, gehen Sie zu dem Shop, in dem Sie sich auf die Warteliste gesetzt haben. Wenn Sie es nicht rechtzeitig annehmen, bekommen andere die Plätze.',
    calendar: null,
    why: `Sie erhalten diese E-Mail, weil diese Adresse auf der Warteliste steht: ${eventName}.`,
  }),
};

export type Words = typeof ENGLISH;

/** Texts of e-mails to attendees and to contacts of waiting lists, by language. */
export const WORDS: Record<Language, Words> = { en: ENGLISH, de: GERMAN };
