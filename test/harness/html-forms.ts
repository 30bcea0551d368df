// Reads the forms of a page as the console writes them. It is no parser of HTML.

/** A field of a form. */
export interface FormField {
  id: string;
  name: string;
  isHidden: boolean;
  /** Any text can be typed. */
  isTyped: boolean;
}

/** A form of a page. */
export interface Form {
  action: string;
  fields: FormField[];
  /** What a browser sends if nobody changes anything. Boxes of one name are joined. */
  values: Record<string, string>;
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"' };

const unescaped = (text: string) =>
  text.replaceAll(/&(?:#(\d+)|(\w+));/g, (whole, code: string | undefined, name: string) =>
    code === undefined ? (ENTITIES[name] ?? whole) : String.fromCodePoint(Number(code)),
  );

const attributesOf = (tag: string) =>
  new Map(
    Array.from(tag.matchAll(/([\w-]+)(?:="([^"]*)")?/g), ([, name, value = '']) => [name!, unescaped(value)]),
  );

/** Returns the forms of a page, in order. */
export const formsIn = (page: string): Form[] =>
  Array.from(page.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs), ([, attributes, body]) => ({
    action: attributesOf(attributes!).get('action') ?? '',
    ...fieldsIn(body!),
  }));

function fieldsIn(body: string): Omit<Form, 'action'> {
  const fields: FormField[] = [];
  const values: Record<string, string> = {};
  const controls =
    /<input\b([^>]*)>|<textarea\b([^>]*)>\n?(.*?)<\/textarea>|<select\b([^>]*)>(.*?)<\/select>/gs;
  for (const [, input, textarea, text = '', select, options = ''] of body.matchAll(controls)) {
    const attributes = attributesOf((input ?? textarea ?? select)!);
    const name = attributes.get('name');
    if (name === undefined) continue;
    const type = attributes.get('type') ?? (input === undefined ? '' : 'text');
    const isHidden = type === 'hidden';
    const isTyped = input === undefined ? textarea !== undefined : type === 'text';
    fields.push({ id: attributes.get('id') ?? '', name, isHidden, isTyped });
    if (type === 'checkbox' && !attributes.has('checked')) continue;
    const value =
      select === undefined
        ? textarea === undefined
          ? attributes.get('value')
          : unescaped(text)
        : chosenIn(options);
    values[name] =
      type === 'checkbox' && values[name] !== undefined ? `${values[name]},${value}` : (value ?? '');
  }
  return { fields, values };
}

function chosenIn(options: string) {
  const all = Array.from(options.matchAll(/<option\b([^>]*)>/g), ([, attributes]) =>
    attributesOf(attributes!),
  );
  return (all.find((one) => one.has('selected')) ?? all[0])?.get('value') ?? '';
}

/** Returns the text of the first element of this name. */
export const textOf = (page: string, element: string) => {
  const [, content = ''] = new RegExp(`<${element}\\b[^>]*>(.*?)</${element}>`, 's').exec(page) ?? [];
  return unescaped(content.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
};

/** Returns the text of the label of a field. */
export const labelOf = (page: string, id: string) => {
  const [, content = ''] = new RegExp(`<label\\b[^>]*for="${id}"[^>]*>(.*?)</label`, 's').exec(page) ?? [];
  return unescaped(content.replaceAll(/<[^>]*>/g, ' '))
    .replaceAll(/\s+/g, ' ')
    .trim();
};
