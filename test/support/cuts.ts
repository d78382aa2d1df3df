/**
 * Cuts sources at random places and builds what remains. It runs in a process of its own, so that a test can end a reader
 * that never returns. Prints one line of JSON.
 *
 * usage: cuts.ts <folder> <cuts> <seed>
 */
import * as fs from 'node:fs'
import path from 'node:path'
import { Compiler } from '../../build/compiler.ts'
import { projectTarget } from '../../build/targets.ts'
import { readProject } from '../../src/wire/project.ts'

const repository = path.resolve(import.meta.dirname, '../..')
const sources = ['test/build/refusals', 'test/build/nest/src', 'examples', 'src/auth'].flatMap((folder) =>
  fs
    .globSync('**/*.ts', { cwd: path.join(repository, folder) })
    .filter((name) => !/node_modules|\.stack|file-unreadable/.test(name))
    .sort()
    .map((name) => fs.readFileSync(path.join(repository, folder, name), 'utf8')),
)

const [root = '', count = '0', seed = '1'] = process.argv.slice(2)
const random = generator(Number(seed))
const file = path.join(root, 'src/app.module.ts')
fs.mkdirSync(path.dirname(file), { recursive: true })
fs.writeFileSync(file, '')
const compiler = new Compiler(projectTarget(root, readProject({ project: 'cuts' }), []))
const slugs = new Map<string, number>()
const failures: { text: string; error: string }[] = []
let accepted = 0
for (let done = 0; done < Number(count); done++) {
  const text = cut(sources[Math.floor(random() * sources.length)]!)
  fs.writeFileSync(file, text) // After a hang, the file on the disk shows the text that caused it.
  try {
    const { refusals, linked } = compiler.check(new Set([file]))
    for (const { slug } of refusals) slugs.set(slug, (slugs.get(slug) ?? 0) + 1)
    if (linked) accepted++
    else if (!refusals.some(({ severity }) => severity === 'error')) throw new Error('neither refused nor accepted')
  } catch (error) {
    failures.push({ text, error: String((error as Error).stack) })
  }
}
await compiler.close()
process.stdout.write(JSON.stringify({ sources: sources.length, accepted, failures, slugs: Object.fromEntries(slugs) }))

/** Removes the end, a stretch or one word, or repeats a stretch. */
function cut(text: string): string {
  const at = () => Math.floor(random() * (text.length + 1))
  const kind = Math.floor(random() * 4)
  if (kind === 0) return text.slice(0, at())
  const [start, end] = [at(), at()].sort((a, b) => a - b) as [number, number]
  if (kind === 1) return text.slice(0, start) + text.slice(Math.min(end, start + 40))
  if (kind === 2) {
    const words = [...text.matchAll(/\w+|[^\s\w]/g)]
    const word = words[Math.floor(random() * words.length)]
    return word ? text.slice(0, word.index) + text.slice(word.index + word[0].length) : ''
  }
  return text.slice(0, end) + text.slice(start, Math.min(end, start + 40)) + text.slice(end)
}

/** Mulberry32, a generator that yields the same numbers for the same seed. */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
