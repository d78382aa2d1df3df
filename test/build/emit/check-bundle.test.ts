/** What a bundle must not have in it, and how large it may be (contract 8.1, 8.5). */
import { gzipSync } from 'node:zlib'
import type esbuild from 'esbuild'
import { describe, expect, it } from 'vitest'
import { checkBundle } from '../../../build/emit/check-bundle.ts'
import { Program } from '../../../build/program.ts'
import { unbuilt } from '../../../src/sdk/errors.ts'
import { temporaryProject } from '../../support/project.ts'

const metafile: esbuild.Metafile = { inputs: {}, outputs: {} }

function checked(file: string, text: string, budget = Number.POSITIVE_INFINITY) {
  const program = new Program(temporaryProject({ 'src/app.module.ts': 'export {}\n' }), 'src/app.module.ts')
  const contents = Buffer.from(text)
  const outputFiles = [{ path: file, contents, text, hash: '' }]
  return checkBundle({ metafile, outputFiles, program, budget }).map(({ slug }) => slug)
}

describe('8.5 a decorator that was not erased', () => {
  const left = thrown(() => unbuilt('Get'))

  it('is refused, because it throws when the worker loads', () => {
    expect(checked('worker.js', `throw new Error(\`${left}\`)`)).toEqual(['decorator-as-value'])
    expect(checked('worker.js', 'export default {}')).toEqual([])
  })

  it('is not sought in the source map, which has the source', () => {
    expect(checked('worker.js.map', left)).toEqual([])
  })
})

describe('8.5 the budget', () => {
  const text = 'a'.repeat(10_000)
  const size = gzipSync(Buffer.from(text)).length

  it('is one of compressed bytes', () => {
    expect(checked('worker.js', text, size)).toEqual([])
    expect(checked('worker.js', text, size - 1)).toEqual(['bundle-over-budget'])
  })

  it('leaves out the source map', () => expect(checked('worker.js.map', text, 1)).toEqual([]))
})

function thrown(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was thrown')
}
