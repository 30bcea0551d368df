import { decimalsOf } from '@floodgate/events/console';
import { html } from 'ghtml';
import { Html } from './html.ts';

export const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

const LOCALES = { en: 'en-GB', de: 'de-DE' } as const satisfies Record<Language, string>;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** To make a formatter takes longer than to format hundreds of texts with it. */
const numberFormats = new Map<string, Intl.NumberFormat>();
const timeFormats = new Map<string, Intl.DateTimeFormat>();

const numberFormat = (locale: string, options: Intl.NumberFormatOptions) =>
  numberFormats.getOrInsertComputed(
    JSON.stringify([locale, options]),
    () => new Intl.NumberFormat(locale, options),
  );

const timeFormat = (locale: string, options: Intl.DateTimeFormatOptions) =>
  timeFormats.getOrInsertComputed(
    JSON.stringify([locale, options]),
    () => new Intl.DateTimeFormat(locale, options),
  );

/** Numbers, amounts and times as the language of a person and the zone of a page show them. */
export class Format {
  readonly language: Language;
  /** A name of the IANA time zone database. */
  readonly zone: string;
  readonly #locale: string;

  constructor(language: Language, zone: string) {
    this.language = language;
    this.zone = zone;
    this.#locale = LOCALES[language];
  }

  /** Returns the same in the zone of an event. Null: it has none. */
  inZone(zone: string | null) {
    return zone === null ? this : new Format(this.language, zone);
  }

  number(value: number) {
    return numberFormat(this.#locale, { maximumFractionDigits: 1 }).format(value);
  }

  percent(part: number, whole: number) {
    const share = whole > 0 ? part / whole : 0;
    return numberFormat(this.#locale, { style: 'percent', maximumFractionDigits: 1 }).format(share);
  }

  /** Returns an amount with its currency. Null: the event has none. */
  money(amount: number | string, currency: string | null) {
    const decimals = decimalsOf(currency);
    const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
    const style = currency === null ? {} : { style: 'currency' as const, currency };
    return numberFormat(this.#locale, { ...digits, ...style }).format(Number(amount));
  }

  /** Returns a rounded amount, for the axis of a chart: "€1.2K". */
  shortMoney(amount: number, currency: string | null) {
    const style = currency === null ? {} : { style: 'currency' as const, currency };
    const options = {
      ...style,
      notation: 'compact' as const,
      maximumFractionDigits: 1,
      minimumFractionDigits: 0,
    };
    return new Intl.NumberFormat(this.#locale, options).format(amount);
  }

  /** Returns a time with its zone: "Fri 4 Dec 2026, 11:00 CET". */
  timeText(time: Date) {
    const options = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;
    return this.#parts(time, { ...options, hour: '2-digit', minute: '2-digit', timeZoneName: 'short' });
  }

  /** Returns a time whose title has it in UTC. Null: there is none. */
  time(time: Date | null) {
    return time && this.#timeHtml(time, this.timeText(time));
  }

  /** Returns a time with its seconds, for what happens during a launch or at a door. */
  exactTime(time: Date | null) {
    const options = {
      day: 'numeric',
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    } as const;
    return time && this.#timeHtml(time, this.#parts(time, options));
  }

  /** Returns a day: "Fri 4 Dec 2026". */
  day(time: Date) {
    return this.#parts(time, { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' });
  }

  /** Returns a time without its year and zone, for charts: "4 Dec, 11:00". */
  shortTime(time: Date) {
    return this.#parts(time, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });
  }

  /** Returns a day without its year, for charts: "Fri 4 Dec". */
  shortDay(time: Date) {
    return this.#parts(time, { weekday: 'short', day: 'numeric', month: 'short' });
  }

  /** Returns a time of the day: "11:00". */
  clock(time: Date) {
    return this.#parts(time, { hour: '2-digit', minute: '2-digit' });
  }

  /** Returns from when to when, with the zone. A day that is the same is there once. */
  span(from: Date, to: Date | null) {
    if (!to) return this.timeText(from);
    if (this.day(from) !== this.day(to)) return `${this.timeText(from)} – ${this.timeText(to)}`;
    return `${this.day(from)}, ${this.clock(from)}–${this.clock(to)} ${this.zoneName(from)}`;
  }

  /** Returns the short name of the zone at a time: "CET". */
  zoneName(at: Date) {
    const parts = timeFormat(this.#locale, { timeZone: this.zone, timeZoneName: 'short' });
    return parts.formatToParts(at).find(({ type }) => type === 'timeZoneName')!.value;
  }

  /** Returns a length of time in its largest unit: "22 s", "3 min", "2 h". `long`: "3 minutes". */
  duration(ms: number, unitDisplay: 'short' | 'long' = 'short') {
    const [amount, unit] =
      ms < MINUTE_MS
        ? ([ms / SECOND_MS, 'second'] as const)
        : ms < HOUR_MS
          ? ([ms / MINUTE_MS, 'minute'] as const)
          : ms < 2 * DAY_MS
            ? ([ms / HOUR_MS, 'hour'] as const)
            : ([ms / DAY_MS, 'day'] as const);
    const maximumFractionDigits = amount < 10 && unit === 'second' ? 1 : 0;
    const options = { style: 'unit', unit, unitDisplay, maximumFractionDigits } as const;
    // "2 Min." at the end of a sentence would have two full stops.
    return numberFormat(this.#locale, options).format(amount).replace(/\.$/, '');
  }

  /** Returns how long ago a time is, or how long it is until then: "12 minutes ago", "in 2 hours". */
  ago(time: Date, now = new Date()) {
    const ms = time.getTime() - now.getTime();
    const [amount, unit] =
      Math.abs(ms) < MINUTE_MS
        ? ([ms / SECOND_MS, 'second'] as const)
        : Math.abs(ms) < HOUR_MS
          ? ([ms / MINUTE_MS, 'minute'] as const)
          : Math.abs(ms) < 2 * DAY_MS
            ? ([ms / HOUR_MS, 'hour'] as const)
            : ([ms / DAY_MS, 'day'] as const);
    const text = new Intl.RelativeTimeFormat(this.#locale).format(Math.round(amount), unit);
    return this.#timeHtml(time, text, `${this.timeText(time)}, ${utcText(time)}`);
  }

  /** Returns a list in words: "a, b and c". */
  list(items: readonly string[]) {
    return new Intl.ListFormat(this.#locale).format(items);
  }

  /** Returns a length of time in its two largest units: "2 h 14 min", "3 days 4 h". */
  countdown(ms: number) {
    const minutes = Math.max(0, Math.round(ms / MINUTE_MS));
    const parts = [
      [Math.floor(minutes / (24 * 60)), 'day'],
      [Math.floor(minutes / 60) % 24, 'hour'],
      [minutes % 60, 'minute'],
    ] as const;
    const first = parts.findIndex(([amount]) => amount > 0);
    const shown =
      first === -1 ? parts.slice(-1) : parts.slice(first, first + 2).filter(([amount]) => amount > 0);
    return shown.map(([amount, unit]) => this.#unit(amount, unit)).join(' ');
  }

  #unit(amount: number, unit: string) {
    return numberFormat(this.#locale, { style: 'unit', unit }).format(amount);
  }

  #parts(time: Date, options: Intl.DateTimeFormatOptions) {
    return timeFormat(this.#locale, { timeZone: this.zone, ...options }).format(time);
  }

  #timeHtml(time: Date, text: string, title = utcText(time)) {
    return new Html(html`<time datetime="${time.toISOString()}" title="${title}">${text}</time>`);
  }
}

const utcText = (time: Date) =>
  time
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, ' UTC');
