/** The lines that `stack start` prints about a change of the source. */
import path from 'node:path'
import { harmless } from '../../build/columns.ts'
import { toJson } from '../../build/formats.ts'
import type { Change } from '../../local/watch.ts'
import { renderRefusals } from '../shared/refusals.ts'

/** @param changed absolute paths. @param root absolute path of the project. */
export function changeText(change: Change, changed: readonly string[], root: string): string {
  const head = changed.length > 0 ? `${changedText(root, changed)}: ` : ''
  switch (change.kind) {
    case 'built': {
      const { refusals, milliseconds, servedAfterMs } = change
      const warnings = refusals.length > 0 ? `${renderRefusals(root, refusals)}\n` : ''
      return `${warnings}${head}built in ${Math.round(milliseconds)} ms, serving ${Math.round(servedAfterMs)} ms later\n`
    }
    case 'documented':
      return `${renderRefusals(root, change.refusals)}\n${head}client.d.ts and openapi.json are written\n`
    case 'not-documented':
      return `${head}client.d.ts and openapi.json cannot be written, those of an earlier build are left\n${indented(change.error.message)}`
    case 'refused':
      return `${renderRefusals(root, change.refusals)}\n${head}refused, the last good build keeps serving\n`
    case 'not-started':
      return `${head}built, and does not start; the last good build keeps serving\n${indented(change.error.message)}`
    case 'failed':
      return `${head}not built, the last good build keeps serving\n${indented(change.error.message)}`
    case 'variables':
      return `${head}serving with the new variables\n`
    case 'later':
      return `${head}migrations run when a stack starts: end it and start it again\n`
  }
}

/** The object of one line of `--json`. */
export function changeJson(change: Change, changed: readonly string[], root: string): object {
  const files = changed.map((file) => path.relative(root, file))
  const about = { event: change.kind, changed: files }
  switch (change.kind) {
    case 'built':
      return { ...about, milliseconds: Math.round(change.milliseconds), refusals: change.refusals.map(toJson) }
    case 'documented':
    case 'refused':
      return { ...about, refusals: change.refusals.map(toJson) }
    case 'not-started':
    case 'not-documented':
    case 'failed':
      return { ...about, error: change.error.message }
    default:
      return about
  }
}

/** The time, and the first changed file. */
export function changedText(root: string, changed: readonly string[]): string {
  const [first, ...others] = changed.map((file) => path.relative(root, file))
  const more = others.length > 0 ? ` and ${others.length} more` : ''
  return harmless(`${new Date().toTimeString().slice(0, 8)} ${first}${more} changed`)
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ').concat('\n')
}
