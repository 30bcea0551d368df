/** A piece of HTML that is safe to insert into a page. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type Content = string | number | Markup | readonly Content[];

/** Returns HTML from a template. Escapes inserted texts, but not markup. */
export function markup(literals: TemplateStringsArray, ...contents: Content[]): Markup {
  return new Markup(String.raw({ raw: literals }, ...contents.map(render)));
}

function render(content: Content): string {
  if (content instanceof Markup) return content.text;
  if (typeof content === 'object') return content.map(render).join('');
  return String(content).replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
}
