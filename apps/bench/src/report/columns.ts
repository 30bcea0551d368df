/** A table of finished text, for the terminal and for HTML alike. */
export interface Table {
  caption: string;
  columns: { title: string; align: 'left' | 'right' }[];
  rows: string[][];
}

/** How a column reads an item; what it does not have is left undefined. */
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

/** A row for each item. */
export function tableOf<Item>(caption: string, columns: Column<Item>[], items: readonly Item[]): Table {
  return {
    caption,
    columns: columns.map(({ title, align }) => ({ title, align })),
    rows: items.map((item) => columns.map(({ cell }) => cell(item) ?? '–')),
  };
}
