/**
 * JSON as text. A parsed number of 20 digits, `1.0` and a repeated name would not come out as they went in, so an answer is only
 * indented anew, and a document is merged by its members' texts.
 */

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** @returns the same JSON with two spaces a level, as `JSON.stringify` sets it, or `undefined` for a text that is not JSON. */
export function indented(text: string): string | undefined {
  if (!isJson(text)) return undefined
  let [out, level, before] = ['', 0, '']
  const newLine = () => `\n${'  '.repeat(level)}`
  for (const [token] of text.matchAll(tokens)) {
    const isOpen = before === '{' || before === '['
    if (token === '}' || token === ']') {
      level--
      out += isOpen ? token : `${newLine()}${token}`
    } else if (token === ',' || token === ':') out += token === ':' ? ': ' : token
    else {
      if (isOpen || before === ',') out += newLine()
      out += token
      if (token === '{' || token === '[') level++
    }
    before = token
  }
  return out
}

/** @returns the text of each member of an object, by its name, or `undefined` for a text that is no JSON object. */
export function membersOf(text: string): Map<string, string> | undefined {
  if (!isJson(text) || !text.trimStart().startsWith('{')) return undefined
  const members = new Map<string, string>()
  let level = 0
  let name: string | undefined
  let from = 0
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '}' || token === ']') level--
    const isEnd = level === 0 || (level === 1 && token === ',')
    if (isEnd && name !== undefined) {
      members.set(name, text.slice(from, index).trim())
      name = undefined
    } else if (level === 1 && name === undefined && token.startsWith('"')) name = JSON.parse(token) as string
    else if (level === 1 && token === ':') from = index + 1
    if (token === '{' || token === '[') level++
  }
  return members
}

/** @returns the members as one object, in their order. */
export function objectOf(members: Map<string, string>): string {
  return `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
