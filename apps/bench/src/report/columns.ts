/** A table of text, for the terminal and for HTML. */
export interface Table {
  caption: string;
  columns: { title: string; align: 'left' | 'right' }[];
  rows: string[][];
}

/** A column and its text for an item. A missing text is undefined. */
export interface Column<Item> {
  title: string;
  align: 'left' | 'right';
  cell: (item: Item) => string | undefined;
}

export function left<Item>(title: string, cell: Column<Item>['cell']): Column<Item> {
  return { title, align: 'left', cell };
}

export function right<Item>(title: string, cell: Column<Item>['cell']): Column<Item> {
  return { title, align: 'right', cell };
}

/** Returns a table with a row for each item. */
export function tableOf<Item>(caption: string, columns: Column<Item>[], items: readonly Item[]): Table {
  return {
    caption,
    columns: columns.map(({ title, align }) => ({ title, align })),
    rows: items.map((item) => columns.map(({ cell }) => cell(item) ?? '–')),
  };
}
