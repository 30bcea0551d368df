/** A piece of HTML that is safe to be put into a page as it is. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = string | number | Markup | readonly Content[];

/** HTML from a template: what is put in is escaped, unless it is markup already. */
export function markup(literals: TemplateStringsArray, ...contents: Content[]): Markup {
  return new Markup(String.raw({ raw: literals }, ...contents.map(render)));
}

function render(content: Content): string {
  if (content instanceof Markup) return content.text;
  if (typeof content === 'object') return content.map(render).join('');
  return String(content).replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
