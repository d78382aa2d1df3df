/** Checks how comments are written: the mechanical rules of CONTRIBUTING.md, for every comment outside tests. */
import * as fs from 'node:fs'
import path from 'node:path'
import { ts } from 'ts-morph'
import { trackedFiles } from './tracked.ts'

/** One comment: consecutive `//` lines count as one, and so do consecutive `--` lines in SQL. */
interface Comment {
  line: number
  text: string
}

/** Largest number of words in a sentence. CONTRIBUTING.md states it. */
const sentenceWords = 30

/** Words that name no party: the reader cannot tell whether the client, the worker or Postgres acts. */
const vague = /\b(?:some|no|any|every)body\b|\bwho(?:so)?ever\b|\bwhatever\b/i
/** A comment that begins with one of these words is nearly always a fragment. */
const fragmentStart = /^(?:Of|For|What|Who|Whose|Whoever|And|As|Than)\s/

/** @returns one finding a rule that the comment breaks, as a sentence. */
export function faultsOf(comment: string): string[] {
  const prose = proseOf(comment)
  const faults: string[] = []
  const found = vague.exec(prose)
  if (found) faults.push(`"${found[0]}" names no party`)
  if (fragmentStart.test(prose)) faults.push(`it begins with "${prose.split(' ')[0]}"`)
  if (prose.includes(';')) faults.push('a semicolon joins what a full stop would part')
  for (const sentence of sentencesOf(prose)) {
    const words = sentence.split(/\s+/).filter((word) => /\w/.test(word))
    if (words.length > sentenceWords) faults.push(`a sentence has ${words.length} words: "${sentence.slice(0, 50)}…"`)
  }
  return faults
}

/** Code spans, links, quoted names and tags are no prose. What follows a tag may be a noun phrase, as in most documentation. */
function proseOf(comment: string): string {
  const [before = ''] = comment.split(/(?:^|\s)@(?:param|returns?|throws|example|see|template|default)\b/)
  return before
    .replaceAll(/```[\s\S]*?```/g, ' ')
    .replaceAll(/`[^`]*`/g, 'Name')
    .replaceAll(/\{@\w+[^}]*\}/g, 'Name')
    .replaceAll(/https?:\S+/g, 'Name')
    .replaceAll(/\([^()]*\)/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function sentencesOf(prose: string): string[] {
  return prose.split(/(?<=[.!?:])\s+(?=\S)/).filter((sentence) => sentence.length > 0)
}

function commentsOf(file: string, text: string): Comment[] {
  return file.endsWith('.sql') ? sqlComments(text) : scriptComments(text)
}

function scriptComments(text: string): Comment[] {
  const source = ts.createSourceFile('comments.ts', text, ts.ScriptTarget.Latest, true)
  const found: Comment[] = []
  const seen = new Set<number>()
  let previousEnd = -1
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) return
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ]
    for (const { pos, end, kind } of ranges) {
      if (seen.has(pos)) continue
      seen.add(pos)
      const line = source.getLineAndCharacterOfPosition(pos).line + 1
      const raw = text.slice(pos, end)
      const isLine = kind === ts.SyntaxKind.SingleLineCommentTrivia
      const stripped = isLine
        ? raw.replace(/^\/\/+\s?/, '')
        : raw
            .slice(2, -2)
            .replaceAll(/^\s*\*+ ?/gm, '')
            .trim()
      const last = found.at(-1)
      if (isLine && last && previousEnd !== -1 && /^\r?\n[ \t]*$/.test(text.slice(previousEnd, pos)))
        last.text += ` ${stripped}`
      else found.push({ line, text: stripped })
      previousEnd = isLine ? end : -1
    }
    for (const child of node.getChildren(source)) visit(child)
  }
  visit(source)
  return found
}

/** Module-level numbers without a comment: the reader cannot tell their unit or their reason. */
function bareNumbers(text: string): Comment[] {
  const source = ts.createSourceFile('numbers.ts', text, ts.ScriptTarget.Latest, true)
  return source.statements.flatMap((statement) => {
    if (!ts.isVariableStatement(statement) || ts.getLeadingCommentRanges(text, statement.getFullStart())) return []
    return statement.declarationList.declarations
      .filter(({ initializer }) => initializer !== undefined && isNumber(initializer))
      .map((one) => ({
        line: source.getLineAndCharacterOfPosition(one.getStart(source)).line + 1,
        text: `the number ${one.name.getText(source)} states neither its unit nor its reason`,
      }))
  })
}

function isNumber(node: ts.Expression): boolean {
  if (ts.isBinaryExpression(node)) return isNumber(node.left) && isNumber(node.right)
  return ts.isNumericLiteral(node) && Number(node.text.replaceAll('_', '')) > 1
}

function sqlComments(text: string): Comment[] {
  const found: Comment[] = []
  let isOpen = false
  text.split('\n').forEach((line, index) => {
    const comment = /(?:^|\s)--\s?(.*)$/.exec(line)
    if (!comment) isOpen = false
    else if (isOpen && /^\s*--/.test(line)) found.at(-1)!.text += ` ${comment[1]}`
    else {
      found.push({ line: index + 1, text: comment[1]! })
      isOpen = true
    }
  })
  return found
}

/** @returns `file:line: the fault` for each fault, and the number of comments that were read. */
export function checkWords(
  root: string,
  under: readonly string[] = [],
): { faults: string[]; faulty: number; comments: number } {
  const files = trackedFiles(root, '*.ts', '*.cjs', '*.sql')
    .filter((file) => !file.startsWith('test/') && !file.endsWith('.d.ts'))
    .filter((file) => under.length === 0 || under.some((folder) => file.startsWith(folder)))
  const faults: string[] = []
  let comments = 0
  let faulty = 0
  for (const file of files) {
    const text = fs.readFileSync(path.join(root, file), 'utf8')
    const numbers = file.endsWith('.sql') ? [] : bareNumbers(text)
    faults.push(...numbers.map((one) => `${file}:${one.line}: ${one.text}`))
    for (const comment of commentsOf(file, text)) {
      comments += 1
      const found = faultsOf(comment.text)
      if (found.length > 0) faulty += 1
      faults.push(...found.map((fault) => `${file}:${comment.line}: ${fault}`))
    }
  }
  return { faults, faulty, comments }
}
