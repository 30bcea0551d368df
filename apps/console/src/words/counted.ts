/** Returns a number with the word that fits to it: "1 seat", "905 seats". */
export const counted = (count: string, one: string, many: string) => `${count} ${count === '1' ? one : many}`;
