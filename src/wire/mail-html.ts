/**
 * The HTML of templates of mail, read as browsers read it (HTML Living Standard, section 13.2.5). The reader covers what a template may
 * hold: the elements whose content follows other rules are refused, except `style`.
 */

interface HtmlAttribute {
  /** In lower case. */
  name: string
  start: number
  value: string
  /** Offset of the value's first character, behind its quote. */
  valueStart: number
  isQuoted: boolean
}

/** A part of the text. `isClosed` is false where the text ends before the part does. */
export interface HtmlToken {
  kind: 'text' | 'open' | 'close' | 'comment' | 'style'
  start: number
  end: number
  isClosed: boolean
  /** Name of the element in lower case. Empty for text and comments. */
  name: string
  attributes: HtmlAttribute[]
}

/** A fault, by its offset in the text. */
export interface HtmlFault {
  at: number
  reason: string
}

/** Elements that run code, load documents, send forms, follow other rules of syntax, or stand in the frame around a template. */
const refusedElements = new Set(
  `applet audio base bgsound body button canvas datalist embed form frame frameset head html iframe input link listing math meta noembed
  noframes noscript object optgroup option output param plaintext portal script select source svg template textarea title track video
  xmp`.split(/\s+/),
)

/** Attributes whose value is an address. */
const addressAttributes = new Set(
  'background cite data dynsrc href icon longdesc lowsrc manifest poster profile src xlink:href'.split(' '),
)

/** Attributes that hold several addresses or a document, or send the reader's clicks elsewhere. */
const refusedAttributes = new Set('action formaction imagesrcset ping srcdoc srcset'.split(' '))

/** The beginning of an address in a template: a mail has no page that a relative address could belong to. */
const addressStart = /^\s*(?:https?:|mailto:|tel:|cid:|#|\{\{)/i

/** Splits a text into tags, comments and the text between them. The time it takes grows with the length of the text alone. */
export function tokensOf(html: string): HtmlToken[] {
  const tokens: HtmlToken[] = []
  let at = 0
  const add = (kind: HtmlToken['kind'], end: number, isClosed = true, name = '', attributes: HtmlAttribute[] = []) => {
    if (end > at || !isClosed) tokens.push({ kind, start: at, end, isClosed, name, attributes })
    at = end
  }
  while (at < html.length) {
    const next = html.slice(at + 1, at + 4)
    if (html[at] !== '<' || !/^(?:\/?[a-z]|[!?]|\/[\s\S])/i.test(next)) {
      const end = html.indexOf('<', at + 1)
      add('text', end === -1 ? html.length : end)
    } else if (!/^\/?[a-z]/i.test(next)) {
      const end = commentEnd(html, at)
      add('comment', end ?? html.length, end !== undefined)
    } else {
      const isClosing = next.startsWith('/')
      const tag = readTag(html, at + (isClosing ? 2 : 1))
      add(isClosing ? 'close' : 'open', tag.end, tag.isClosed, tag.name, isClosing ? [] : tag.attributes)
      if (tag.name !== 'style' || isClosing) continue
      const rest = /<\/style[\t\n\f\r />]/gi
      rest.lastIndex = at
      const end = rest.exec(html)?.index
      add('style', end ?? html.length, end !== undefined)
    }
  }
  return tokens
}

/** @param at offset of `<`. @returns the offset behind the comment, or `undefined` where it does not end. */
function commentEnd(html: string, at: number): number | undefined {
  if (!html.startsWith('<!--', at)) {
    const end = html.indexOf('>', at)
    return end === -1 ? undefined : end + 1
  }
  const early = /-?>/y
  early.lastIndex = at + 4
  if (early.test(html)) return early.lastIndex
  const ending = /--!?>/g
  ending.lastIndex = at + 4
  return ending.test(html) ? ending.lastIndex : undefined
}

/** @param at offset of the name. */
function readTag(html: string, at: number) {
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    const [text = ''] = pattern.exec(html) ?? []
    at += text.length
    return text
  }
  const name = match(/[^\t\n\f\r />]*/y).toLowerCase()
  const attributes: HtmlAttribute[] = []
  for (;;) {
    match(/[\t\n\f\r /]*/y)
    if (at >= html.length) return { name, attributes, end: html.length, isClosed: false }
    if (html[at] === '>') return { name, attributes, end: at + 1, isClosed: true }
    const start = at
    const attribute = match(/[^\t\n\f\r />][^\t\n\f\r />=]*/y).toLowerCase()
    let [value, valueStart, isQuoted] = ['', at, false]
    if (match(/[\t\n\f\r ]*=[\t\n\f\r ]*/y) !== '') {
      const quote = html[at]
      isQuoted = quote === '"' || quote === "'"
      valueStart = isQuoted ? at + 1 : at
      const end = isQuoted ? html.indexOf(quote!, valueStart) : -1
      if (isQuoted && end === -1) return { name, attributes, end: html.length, isClosed: false }
      value = isQuoted ? html.slice(valueStart, end) : match(/[^\t\n\f\r >]*/y)
      if (isQuoted) at = end + 1
    }
    attributes.push({ name: attribute, start, value, valueStart, isQuoted })
  }
}

/**
 * Checks the HTML of a template.
 *
 * @param variables offsets of its variables.
 * @returns what a mail program must not get, and variables where a value could become markup, an attribute or a style.
 */
export function checkMailHtml(html: string, variables: readonly number[]): HtmlFault[] {
  const faults: HtmlFault[] = []
  let next = 0
  for (const token of tokensOf(html)) {
    const inside: number[] = []
    while (next < variables.length && variables[next]! < token.end) inside.push(variables[next++]!)
    if (!token.isClosed) faults.push({ at: token.start, reason: `${labelOf(token)} has no end` })
    if (token.kind === 'open' && refusedElements.has(token.name))
      faults.push({ at: token.start, reason: refusalOf(token.name) })
    faults.push(...token.attributes.flatMap(attributeFaults))
    for (const at of inside) {
      const attribute = token.attributes.find(
        ({ valueStart, value }) => at >= valueStart && at < valueStart + value.length,
      )
      const reason = token.kind === 'text' ? textFault(html, at) : placeFault(token, attribute)
      if (reason) faults.push({ at, reason })
    }
  }
  return faults
}

function labelOf({ kind, name }: HtmlToken): string {
  if (kind === 'comment') return 'this comment'
  return kind === 'style' ? 'this style' : `the tag <${kind === 'close' ? '/' : ''}${name.slice(0, 40)}>`
}

function refusalOf(name: string): string {
  if (/^(?:base|body|head|html|link|meta|title)$/.test(name))
    return `<${name}> is refused: the frame around the content has it, so give the content alone`
  return `<${name}> is refused: mail programs remove it, or it acts without the reader`
}

function attributeFaults({ name, start, value, valueStart }: HtmlAttribute): HtmlFault[] {
  const shown = `"${name.slice(0, 40)}"`
  if (name.startsWith('on')) return [{ at: start, reason: `the attribute ${shown} is refused: it runs script` }]
  if (refusedAttributes.has(name)) return [{ at: start, reason: `the attribute ${shown} is refused in a mail` }]
  if (!addressAttributes.has(name) || addressStart.test(value)) return []
  return [{ at: valueStart, reason: `${shown} must begin with https:, http:, mailto:, tel:, cid:, # or a variable` }]
}

/** A value behind `<` would be the name of an element. */
function textFault(html: string, at: number): string | undefined {
  return html[at - 1] === '<' ? 'a variable must not stand behind "<": write &lt; for the character' : undefined
}

/** Where a value is escaped, it stays text: between tags, and in the quoted value of an attribute that holds no style. */
function placeFault({ kind }: HtmlToken, attribute: HtmlAttribute | undefined): string | undefined {
  if (kind === 'comment') return 'a variable in a comment is refused: some mail programs read comments as markup'
  if (kind === 'style' || attribute?.name === 'style') return 'a variable in a style is refused: write the style out'
  if (!attribute) return 'a variable in a tag must stand in the value of an attribute'
  return attribute.isQuoted ? undefined : `the value of "${attribute.name.slice(0, 40)}" must be in quotes`
}

/** @returns offsets at which the address in an attribute begins: a variable there decides the scheme of the address. */
export function addressOffsets(html: string): Set<number> {
  const attributes = tokensOf(html).flatMap((token) => token.attributes)
  const addresses = attributes.filter(({ name }) => addressAttributes.has(name))
  return new Set(addresses.map(({ value, valueStart }) => valueStart + (value.length - value.trimStart().length)))
}

/** @returns the value where it is an address that a mail may lead to, or else `#`. */
export function mailHref(value: string): string {
  const trimmed = value.trim()
  return /^(?:https?:|mailto:|tel:)/i.test(trimmed) ? trimmed : '#'
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

/** The text of HTML, for templates without a text of their own. The addresses of links stay. */
export function textOfHtml(html: string): string {
  let text = ''
  let link: { href: string; from: number } | undefined
  for (const { kind, name, start, end, attributes } of tokensOf(html)) {
    if (kind === 'text') text += decoded(html.slice(start, end)).replaceAll(/[\t\n\f\r ]+/g, ' ')
    if (kind === 'open' && name === 'br') text += '\n'
    if (kind === 'open' && name === 'a') {
      const href = attributes.find((attribute) => attribute.name === 'href')
      link = href && { href: decoded(href.value).trim(), from: text.length }
    }
    if (kind !== 'close') continue
    if (name === 'a' && link) {
      const label = text.slice(link.from).trim()
      if (label !== link.href) text += label === '' ? link.href : `: ${link.href}`
      link = undefined
    }
    if (/^(?:p|div|h[1-6]|li|tr|table|ul|ol)$/.test(name)) text += '\n\n'
  }
  const lines = text.split('\n').map((line) => line.replaceAll(/ +/g, ' ').trim())
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name as string] ?? whole
    const point = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal)
    const isCharacter = point > 0x1f && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff)
    return isCharacter ? String.fromCodePoint(point) : ''
  })
}
