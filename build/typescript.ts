/**
 * The TypeScript inside ts-morph, loaded without ts-morph's wrappers, which only the types of packages need. It is required
 * instead of imported: to find the names that a CommonJS package exports, an import would read its 9 MB a second time.
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

/** The folder in which TypeScript's library declarations seem to lie. ts-morph has them as text, not as files. */
export const libraryFolder: string = '/node_modules/typescript/lib'

let library: ReadonlyMap<string, string> | undefined

/** Texts of TypeScript's library declarations by file name, like `lib.es2024.d.ts`. */
export function libraryFiles(): ReadonlyMap<string, string> {
  const { getLibFiles } = requireInMorph('@ts-morph/common') as { getLibFiles(): { fileName: string; text: string }[] }
  library ??= new Map(getLibFiles().map(({ fileName, text }) => [fileName, text]))
  return library
}
