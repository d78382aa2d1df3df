/**
 * The TypeScript that ts-morph holds, loaded alone: its wrappers are needed only where the types of a package are asked.
 * Required, not imported: for a CommonJS package an import reads nine megabytes a second time, to find its exports' names.
 */
import { createRequire } from 'node:module'

type Morph = typeof import('ts-morph')

const require = createRequire(import.meta.url)
const requireInMorph = createRequire(require.resolve('ts-morph'))

export const ts: Morph['ts'] = createRequire(requireInMorph.resolve('@ts-morph/common'))('./typescript.js')

export function createProject(options: ConstructorParameters<Morph['Project']>[0]) {
  const { Project } = require('ts-morph') as Morph
  return new Project(options)
}

/** Where the declarations of the language's library seem to lie: ts-morph carries them as text. */
export const libraryFolder: string = '/node_modules/typescript/lib'

let library: ReadonlyMap<string, string> | undefined

/** Text by file name, like `lib.es2024.d.ts`. */
export function libraryFiles(): ReadonlyMap<string, string> {
  const { getLibFiles } = requireInMorph('@ts-morph/common') as { getLibFiles(): { fileName: string; text: string }[] }
  library ??= new Map(getLibFiles().map(({ fileName, text }) => [fileName, text]))
  return library
}
