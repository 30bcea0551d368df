/** What a person sees of an e-mail that was composed here. */
export interface MailParts {
  headers: string;
  text: string;
  /** With the picture in it, where there is one. */
  html: string;
}

const PART = /Content-Type: ((?:text|image)\/[a-z]+)[^]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)\r\n--/g;

/** Takes apart an e-mail that was composed here. It reads no others. */
export function readParts(content: Buffer): MailParts {
  const mail = content.toString('latin1');
  const headersEnd = mail.indexOf('\r\n\r\n');
  const bodies = new Map<string, Buffer>();
  for (const [, type, body] of mail.matchAll(PART)) bodies.set(type!, Buffer.from(body!, 'base64'));
  const picture = `data:image/png;base64,${bodies.get('image/png')?.toString('base64')}`;
  return {
    headers: mail.slice(0, headersEnd),
    text: bodies.get('text/plain')!.toString(),
    html: bodies
      .get('text/html')!
      .toString()
      .replaceAll(/cid:[^"]+/g, picture),
  };
}
