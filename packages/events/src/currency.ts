import { InvalidInput } from '@floodgate/service/failure';

/** Decimals of a price: those of its column. */
const MOST_DECIMALS = 2;
export const MAX_PRICE = 9_999_999_999.99;

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'));

/** Returns whether a text is the code of a currency, such as EUR. */
export const isCurrency = (code: string) => CURRENCIES.has(code);

/** Returns how many decimals the amounts of a currency have, such as 0 for JPY. Without a currency: 2. */
function digitsOf(currency: string | null) {
  if (currency === null) return MOST_DECIMALS;
  const { maximumFractionDigits } = new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
  }).resolvedOptions();
  return maximumFractionDigits ?? MOST_DECIMALS;
}

/** Returns how many decimals a price in a currency can have: those of the currency, at most 2. */
export const decimalsOf = (currency: string | null) => Math.min(digitsOf(currency), MOST_DECIMALS);

/** Returns an amount with the decimals of its currency. Amounts without a currency have 2. */
export const amountText = (amount: number, currency: string | null) => amount.toFixed(decimalsOf(currency));

/** Returns the rule of a price in a currency; null: without a currency. */
export function priceRule(currency: string | null) {
  const decimals = decimalsOf(currency);
  const most = Math.floor(MAX_PRICE * 10 ** decimals) / 10 ** decimals;
  const range = `an amount from 0 to ${most}`;
  if (decimals === 0) return `${range} without decimals, such as 1200, because the event is in ${currency}`;
  const also = digitsOf(currency) > decimals ? `, also in ${currency}` : '';
  return `${range} with at most ${decimals} decimals${also}, such as 12.50`;
}

/** Throws InvalidInput if a price has more decimals than its currency. */
export function assertPrice(price: number, currency: string | null) {
  if (price !== Number(price.toFixed(decimalsOf(currency))))
    throw new InvalidInput({ price: priceRule(currency) });
}
