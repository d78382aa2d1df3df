/** A worker of a test in workerd: TypeScript of this repository, in one bundle. */
import esbuild from 'esbuild'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll } from 'vitest'
import { packageRoot } from './command.ts'

/**
 * Starts the worker before the tests of a group, and ends it after them.
 *
 * @param source text of a module whose default export has `fetch`. Its imports are relative to the repository.
 * @returns a function that posts a value, and returns the value of the answer.
 */
export function useBundledWorker(source: string): <T>(body: unknown) => Promise<T> {
  let runtime: Miniflare

  beforeAll(async () => {
    const { outputFiles } = await esbuild.build({
      stdin: { contents: source, resolveDir: packageRoot, loader: 'js' },
      bundle: true,
      write: false,
      format: 'esm',
      target: 'es2024',
    })
    runtime = new Miniflare({
      modules: [{ type: 'ESModule', path: 'worker.js', contents: outputFiles[0]!.text }],
      compatibilityDate: '2026-07-30',
      cf: false,
    })
    await runtime.ready
  })
  afterAll(() => runtime?.dispose())

  return async <T>(body: unknown) => {
    const response = await fetch(await runtime.ready, { method: 'POST', body: JSON.stringify(body) })
    return (await response.json()) as T
  }
}
