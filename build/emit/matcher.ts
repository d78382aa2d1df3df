/**
 * Writes the route matcher as code: a radix tree over the paths. Each controller's prefix has a function of its own, so that
 * V8 compiles only the functions that requests reach. Literal segments win over parameters, from left to right. If a path
 * has no route for the method at a literal, the parameter beside it is tried. runtime/routes.ts calls the matcher.
 */

export interface MatchedRoute {
  method: string
  /** `/orders/:id` */
  path: string
  /** The path of the controller: `/orders`. */
  prefix: string
}

interface Node {
  /** Literal texts and the nodes that follow them, by first character. */
  literals: Map<string, { text: string; child: Node }>
  parameter?: Node
  /** Method → index of the route that ends here. */
  routes: Map<string, number>
  /** The literal part of a controller's path ends here. `matcherSource` writes a function for all routes that are matched from here on. */
  isPrefix: boolean
}

/** @returns JavaScript that declares `match(method, path)`; see `Match` in runtime/routes.ts. */
export function matcherSource(routes: readonly MatchedRoute[]): string {
  const root = emptyNode()
  for (const { prefix } of routes) nodeAt(root, [literalStart(prefix)]).isPrefix = true
  root.isPrefix = false
  routes.forEach(({ method, path }, index) => {
    nodeAt(root, path.split(/(?<=\/):[^/]+/)).routes.set(method, index)
  })
  const functions: string[] = []
  const constants: string[] = []
  const body = emit(root, { base: '', offset: 0 }, [])
  return [
    ...constants,
    ...functions,
    'function match(method, path) {',
    'let end = path.length',
    // One slash at the end does not count.
    'if (end > 2 && path.charCodeAt(end - 1) === 47 && path.charCodeAt(end - 2) !== 47) end--',
    ...body,
    '}',
  ].join('\n')

  /** Code that returns the match of the path from `at` on, or falls through. @param values ranges of earlier parameters. */
  function emit(node: Node, at: Position, values: readonly Value[]): string[] {
    const lines: string[] = []
    if (node.routes.size > 0) {
      const found = [...node.routes].map(
        ([method, index]) => `if (method === '${method}') return ${result(index, values)}`,
      )
      lines.push(`if (end === ${print(at)}) {`, ...found, '}')
    }
    const literals = [...node.literals.values()]
    const followed = ({ text, child }: { text: string; child: Node }) => branch(child, moved(at, text.length), values)
    if (literals.length === 1) {
      lines.push(`if (${compare(literals[0]!.text, at)}) {`, ...followed(literals[0]!), '}')
    } else if (literals.length > 1) {
      lines.push(`switch (path.charCodeAt(${print(at)})) {`)
      for (const literal of literals) {
        const rest = literal.text.slice(1)
        const code = followed(literal)
        lines.push(`case ${literal.text.charCodeAt(0)}: {`)
        lines.push(...(rest === '' ? code : [`if (${compare(rest, moved(at, 1))}) {`, ...code, '}']), 'break', '}')
      }
      lines.push('}')
    }
    if (node.parameter) lines.push(...parameter(node.parameter, at, values))
    return lines
  }

  function parameter(node: Node, at: Position, values: readonly Value[]): string[] {
    const end = `e${values.length}`
    const here = { from: print(at), to: end }
    return [
      '{',
      `let ${end} = path.indexOf('/', ${print(at)})`,
      `if (${end} < 0) ${end} = end`,
      `if (${end} > ${print(at)}) {`, // A parameter is never empty.
      ...branch(node, { base: end, offset: 0 }, [...values, here]),
      '}',
      '}',
    ]
  }

  function branch(node: Node, at: Position, values: readonly Value[]): string[] {
    if (!node.isPrefix) return emit(node, at, values)
    // A prefix is literal from the start of the path, so its function needs no values of parameters.
    const name = `match${functions.length}`
    const index = functions.push('') - 1
    functions[index] = [`function ${name}(method, path, end) {`, ...emit(node, at, values), '}'].join('\n')
    return [`const found = ${name}(method, path, end)`, 'if (found !== undefined) return found']
  }

  function result(index: number, values: readonly Value[]): string {
    if (values.length > 0)
      return `[${[index, ...values.map(({ from, to }) => `path.slice(${from}, ${to})`)].join(', ')}]`
    constants.push(`const route${index} = [${index}]`)
    return `route${index}`
  }
}

/** An index into the path: a variable, and the distance from it. */
interface Position {
  base: string
  offset: number
}

interface Value {
  from: string
  to: string
}

function print({ base, offset }: Position): string {
  if (base === '') return String(offset)
  return offset === 0 ? base : `${base} + ${offset}`
}

function moved({ base, offset }: Position, by: number): Position {
  return { base, offset: offset + by }
}

function compare(text: string, at: Position): string {
  if (text.length === 1) return `path.charCodeAt(${print(at)}) === ${text.charCodeAt(0)}`
  return `path.startsWith(${JSON.stringify(text)}, ${print(at)})`
}

function emptyNode(): Node {
  return { literals: new Map(), routes: new Map(), isPrefix: false }
}

/** The part of a controller's path before its first parameter. */
function literalStart(prefix: string): string {
  return prefix.replace(/\/:.*$/, '')
}

/** @param literals the path's literal texts. A parameter stands between two of them. */
function nodeAt(root: Node, literals: readonly string[]): Node {
  return literals.reduce((node, literal, index) => {
    if (index > 0) node.parameter ??= emptyNode()
    return literal === '' ? (index > 0 ? node.parameter! : node) : insert(index > 0 ? node.parameter! : node, literal)
  }, root)
}

function insert(node: Node, text: string): Node {
  if (text === '') return node
  const known = node.literals.get(text[0]!)
  if (!known) {
    const child = emptyNode()
    node.literals.set(text[0]!, { text, child })
    return child
  }
  let shared = 1
  while (shared < known.text.length && shared < text.length && known.text[shared] === text[shared]) shared++
  if (shared === known.text.length) return insert(known.child, text.slice(shared))
  const middle = emptyNode()
  middle.literals.set(known.text[shared]!, { text: known.text.slice(shared), child: known.child })
  node.literals.set(text[0]!, { text: known.text.slice(0, shared), child: middle })
  return insert(middle, text.slice(shared))
}
