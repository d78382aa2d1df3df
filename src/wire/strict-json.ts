/**
 * Strict JSON (RFC 8259) with the place of each fault. `JSON.parse` keeps the last of two equal names without a word, so that two
 * readers of one document may see different values. The auth module and the command line refuse such documents with this reader.
 */

type JsonPath = readonly (string | number)[]

interface JsonPlace {
  /** Counts from 1. */
  line: number
  /** Counts UTF-16 units from 1. */
  column: number
}

interface JsonFault extends JsonPlace {
  kind: 'syntax' | 'nesting' | 'duplicate' | 'null'
  path: JsonPath
  /** A sentence without the values of the document. */
  reason: string
}

export interface StrictJson {
  /** The value that `JSON.parse` gives, or `undefined` where a fault of syntax or nesting ended the reading. */
  value: unknown
  /** In the order of the document, at most 50. */
  faults: JsonFault[]
  /** @returns the place of the innermost value on the path that exists: a missing name has the place of its object. */
  placeOf(path: JsonPath): JsonPlace
}

export interface StrictJsonOptions {
  /** Whether `null` is a value. Default: true. With `false` each `null` is a fault. */
  hasNull?: boolean
}

/** Deepest nesting of a document: the reader calls itself for each level, and no document of the stack has 10. */
const deepestLevel = 64

/** Largest number of faults that are collected: an answer holds them all. */
const mostFaults = 50

export function readStrictJson(text: string, { hasNull = true }: StrictJsonOptions = {}): StrictJson {
  const reader = new Reader(text, hasNull)
  const { faults } = reader
  let value: unknown
  let top: Node = { at: 0 }
  try {
    ;({ value, node: top } = reader.document())
  } catch (error) {
    if (!(error instanceof Stop)) throw error
  }
  return { value, faults, placeOf: (path) => placeAt(text, offsetOf(top, path)) }
}

/** Where a value stands, and where the values inside it stand. */
interface Node {
  at: number
  inside?: Map<string | number, Node>
}

interface Read {
  value: unknown
  node: Node
}

/** Ends the reading. The fault that caused it is in the list. */
class Stop extends Error {}

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const blanks = /[ \t\n\r]*/y
const literals = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const

class Reader {
  readonly faults: JsonFault[] = []
  private at = 0
  /** Names and indices that lead to the value which is read now. */
  private readonly path: (string | number)[] = []

  private readonly text: string
  private readonly hasNull: boolean

  constructor(text: string, hasNull: boolean) {
    this.text = text
    this.hasNull = hasNull
  }

  document(): Read {
    this.skipBlanks()
    const read = this.read()
    this.skipBlanks()
    if (this.at < this.text.length) this.stop('there is text after the end of the document')
    return read
  }

  private read(): Read {
    const node: Node = { at: this.at }
    const first = this.text[this.at]
    if ((first === '{' || first === '[') && this.path.length >= deepestLevel) {
      this.stop(`nested deeper than ${deepestLevel} levels`, 'nesting')
    }
    if (first === '{') return { value: this.object(node), node }
    if (first === '[') return { value: this.array(node), node }
    if (first === '"') return { value: this.string(), node }
    return { value: this.scalar(), node }
  }

  private object(node: Node): Record<string, unknown> {
    const value: Record<string, unknown> = {}
    const inside = new Map<string | number, Node>()
    node.inside = inside
    this.at++
    this.skipBlanks()
    if (this.takes('}')) return value
    do {
      this.skipBlanks()
      const at = this.at
      if (this.text[at] !== '"') this.stop(this.unexpected('a name in double quotes'))
      const name = this.string()
      this.path.push(name)
      if (inside.has(name)) this.add('duplicate', `duplicate key "${name.slice(0, 64)}"`, at)
      this.skipBlanks()
      if (!this.takes(':')) this.stop(this.unexpected('":"'))
      this.skipBlanks()
      const { value: member, node: own } = this.read()
      inside.set(name, { ...own, at })
      // a plain assignment to `__proto__` would set the prototype
      Object.defineProperty(value, name, { value: member, enumerable: true, configurable: true, writable: true })
      this.path.pop()
      this.skipBlanks()
    } while (this.takes(','))
    if (!this.takes('}')) this.stop(this.unexpected('"," or "}"'))
    return value
  }

  private array(node: Node): unknown[] {
    const value: unknown[] = []
    const inside = new Map<string | number, Node>()
    node.inside = inside
    this.at++
    this.skipBlanks()
    if (this.takes(']')) return value
    do {
      this.skipBlanks()
      this.path.push(value.length)
      const { value: element, node: own } = this.read()
      inside.set(value.length, own)
      value.push(element)
      this.path.pop()
      this.skipBlanks()
    } while (this.takes(','))
    if (!this.takes(']')) this.stop(this.unexpected('"," or "]"'))
    return value
  }

  private string(): string {
    const start = this.at++
    for (; ; this.at++) {
      const code = this.text.charCodeAt(this.at)
      if (code === 0x22) break
      if (code === 0x5c) this.at++
      else if (Number.isNaN(code)) this.stop('a text has no closing quote', 'syntax', start)
      else if (code < 0x20) this.stop('a text holds a control character: write it as an escape')
    }
    this.at++
    try {
      return JSON.parse(this.text.slice(start, this.at))
    } catch {
      return this.stop('a text holds an escape that JSON does not have', 'syntax', start)
    }
  }

  private scalar(): unknown {
    for (const [word, value] of literals) {
      if (!this.text.startsWith(word, this.at)) continue
      if (value === null && !this.hasNull) this.add('null', 'null is no value here: leave the field out', this.at)
      this.at += word.length
      return value
    }
    number.lastIndex = this.at
    const [digits] = number.exec(this.text) ?? this.stop(this.unexpected('a value'))
    this.at += digits.length
    return Number(digits)
  }

  private skipBlanks(): void {
    blanks.lastIndex = this.at
    blanks.test(this.text)
    this.at = blanks.lastIndex
  }

  /** Steps over the character where it is the next one. */
  private takes(character: string): boolean {
    if (this.text[this.at] !== character) return false
    this.at++
    return true
  }

  private unexpected(wanted: string): string {
    const found = this.text[this.at]
    if (found === undefined) return `the document ends where ${wanted} belongs`
    if (found === '/' || found === '#') return 'comments are not allowed'
    const before = this.text.slice(0, this.at).trimEnd().at(-1)
    if (before === ',' && (found === '}' || found === ']')) return 'a comma at the end is not allowed'
    return `${wanted} belongs here`
  }

  private add(kind: JsonFault['kind'], reason: string, at: number): void {
    this.faults.push({ kind, path: [...this.path], reason, ...placeAt(this.text, at) })
    if (this.faults.length >= mostFaults) throw new Stop()
  }

  private stop(reason: string, kind: JsonFault['kind'] = 'syntax', at = this.at): never {
    this.add(kind, reason, at)
    throw new Stop()
  }
}

function offsetOf(top: Node, path: JsonPath): number {
  let node = top
  for (const step of path) {
    const next = node.inside?.get(step)
    if (!next) break
    node = next
  }
  return node.at
}

function placeAt(text: string, offset: number): JsonPlace {
  const before = text.slice(0, offset)
  const start = before.lastIndexOf('\n') + 1
  return { line: before.split('\n').length, column: offset - start + 1 }
}
