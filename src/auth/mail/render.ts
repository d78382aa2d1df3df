/** Fills a template in. A template has variables and no logic: `{{name}}`. */
import { addressOffsets, mailHref, textOfHtml } from '../../wire/mail-html.ts'
import { replaceVariables, type TemplateParts } from '../../wire/templates.ts'

export type Variables = Readonly<Record<string, string>>

export interface Filled {
  subject: string
  html: string
  text: string
}

/** Values are escaped in HTML. In the subject, line breaks become blanks, so that a value adds no header. */
export function fill({ channel, subject, body, body_text }: TemplateParts, values: Variables): Filled {
  const read = (name: string) => (Object.hasOwn(values, name) ? values[name]! : '')
  const plain = (text: string) => replaceVariables(text, read)
  if (channel === 'sms') return { subject: '', html: '', text: plain(body) }
  const addresses = addressOffsets(body)
  const html = replaceVariables(body, (name, at) => escaped(addresses.has(at) ? mailHref(read(name)) : read(name)))
  const line = plain(subject ?? '')
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
  return { subject: line, html: framed(html, values), text: body_text === null ? textOfHtml(html) : plain(body_text) }
}

/** Also right within an attribute in quotes. */
function escaped(value: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return value.replaceAll(/[&<>"']/g, (character) => entities[character]!)
}

/** The frame of a mail: one column, the style within, no image. Mail programs in dark mode invert it themselves. */
function framed(html: string, values: Variables): string {
  const site = escaped(values['site_name'] ?? '')
  const support = values['support_email'] ? `<p class="foot">Questions: ${escaped(values['support_email'])}</p>` : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${site}</title>
<style>
body { margin: 0; padding: 24px; font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 560px; margin: 0 auto; }
h1 { font-size: 18px; }
.button { display: inline-block; padding: 10px 20px; border-radius: 6px; background: #1a56db; color: #ffffff; text-decoration: none; }
.code { font: 600 22px/1 ui-monospace, monospace; letter-spacing: 2px; }
.foot { font-size: 13px; opacity: 0.75; }
</style>
</head>
<body>
<main>
<h1>${site}</h1>
${html}
${support}
</main>
</body>
</html>
`
}
