import { Type } from '@sinclair/typebox';

// What fields of actions have in common. The description is the rule that whoever breaks it reads.

const INT4_MAX = 2_147_483_647;

/** A whole number within bounds. */
export const whole = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` });

/** Text of so many Unicode characters, as Postgres counts them, that neither begins nor ends with a space. */
export const text = (minimum: number, maximum: number) =>
  Type.RegExp(new RegExp(`^(?!\\s)[^\\p{Cc}\\p{Cs}]{${minimum},${maximum}}(?<!\\s)$`, 'u'), {
    description: `${minimum} to ${maximum} characters, no control characters, no space around them`,
  });

/** The id of a partner, event or ticket. */
export const Id = whole(1, INT4_MAX);
/** A number of seats. */
export const Seats = whole(0, INT4_MAX);
/** A name or title. */
export const Name = text(1, 255);

/** An instant, or null for none. */
export const instantOrNull = (description: string) => Type.Union([Type.Date(), Type.Null()], { description });
