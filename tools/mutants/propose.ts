/** Proposes changes of a file. A person chooses among them, and gives each its sentence and its tests. */
import path from 'node:path'
import { Node, Project, type SourceFile, SyntaxKind } from 'ts-morph'

interface Proposal {
  line: number
  before: string
  after: string
}

const flipped: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
}

/** Prints each proposal in the form of the lists, without its sentence and its tests. */
export function propose(root: string, file: string): void {
  const source = new Project({ compilerOptions: { allowJs: false } }).addSourceFileAtPath(path.join(root, file))
  for (const { line, before, after } of proposalsOf(source))
    console.log(
      `// line ${line}\n{\n  id: '',\n  file: '${file}',\n  before: ${quoted(before)},\n  after: ${quoted(after)},\n  gain: '',\n  tests: [],\n},`,
    )
}

const quoted = (text: string) => `\`${text.replaceAll(/[`\\$]/g, '\\$&')}\``

/** A condition that never holds, a comparison or an `and` turned round, a bound moved by one, and an `await` dropped. */
function proposalsOf(source: SourceFile): Proposal[] {
  const found: Proposal[] = []
  const add = (node: Node, text: string) => {
    const proposal = unique(source, node, text)
    if (proposal) found.push(proposal)
  }
  source.forEachDescendant((node) => {
    if (Node.isIfStatement(node)) add(node.getExpression(), 'false')
    if (Node.isBinaryExpression(node)) {
      const operator = node.getOperatorToken()
      const other = flipped[operator.getText()]
      if (other !== undefined) add(operator, other)
    }
    if (Node.isAwaitExpression(node)) add(node, node.getExpression().getText())
    if (node.getKind() === SyntaxKind.NumericLiteral && Node.isVariableDeclaration(node.getParent()))
      add(node, `${node.getText()} + 1`)
  })
  return found
}

/** Extends the text to whole lines until it stands once in the file. */
function unique(source: SourceFile, node: Node, replacement: string): Proposal | undefined {
  const whole = source.getFullText()
  let [from, to] = [node.getStart(), node.getEnd()]
  const [start, end] = [from, to]
  for (let round = 0; whole.split(whole.slice(from, to)).length > 2; round++) {
    if (round === 6) return undefined
    from = round === 0 ? whole.lastIndexOf('\n', from) + 1 : Math.max(whole.lastIndexOf('\n', from - 2) + 1, 0)
    if (round === 0) to = whole.indexOf('\n', to)
  }
  const after = whole.slice(from, start) + replacement + whole.slice(end, to)
  return { line: node.getStartLineNumber(), before: whole.slice(from, to), after }
}
