/** Fills a template in. A template has variables and no logic: `{{name}}`. */

/** A variable in a template. Blanks beside the name are allowed. */
const variable = /\{\{\s*([a-z][a-z0-9_]*)\s*\}\}/g

export type Variables = Readonly<Record<string, string>>

export interface Filled {
  subject: string
  html: string
  text: string
}

/** The parts of a template that are filled in. */
export interface Parts {
  channel: 'email' | 'sms'
  subject: string | null
  body: string
  body_text: string | null
}

/** Values are escaped in HTML. In the subject, line breaks become blanks, so that a value adds no header. */
export function fill({ channel, subject, body, body_text }: Parts, values: Variables): Filled {
  const line = replaced(subject ?? '', values, (value) => value)
    .replaceAll(/[\x00-\x1f\x7f\u2028\u2029]+/g, ' ')
    .trim()
  const plain = (text: string) => replaced(text, values, (value) => value)
  if (channel === 'sms') return { subject: '', html: '', text: plain(body) }
  const html = replaced(body, values, escaped)
  return { subject: line, html: framed(html, values), text: body_text === null ? textOf(html) : plain(body_text) }
}

function replaced(text: string, values: Variables, encode: (value: string) => string): string {
  return text.replaceAll(variable, (_, name: string) => encode(Object.hasOwn(values, name) ? values[name]! : ''))
}

/** Also right within an attribute in quotes. */
function escaped(value: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
  return value.replaceAll(/[&<>"']/g, (character) => entities[character]!)
}

/** Plain text of HTML, for templates that were changed without one. Addresses of links stay. */
function textOf(html: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' }
  return html
    .replaceAll(/<(style|script|title)\b[^>]*>[\s\S]*?<\/\1\s*>/gi, '')
    .replaceAll(
      /<a\b[^>]*\bhref="([^"]*)"[^>]*>([\s\S]*?)<\/a\s*>/gi,
      (_, href: string, label: string) => `${label}: ${href}`,
    )
    .replaceAll(/<br\s*\/?>/gi, '\n')
    .replaceAll(/<\/(?:p|div|h[1-6]|li|tr)\s*>/gi, '\n\n')
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => entities[name]!)
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
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
