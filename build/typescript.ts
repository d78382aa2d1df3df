/**
 * The TypeScript that ts-morph exports. Required, not imported: for a CommonJS package an import reads nine megabytes a
 * second time, to find the names of its exports.
 */
import { createRequire } from 'node:module'

const morph = createRequire(import.meta.url)('ts-morph') as typeof import('ts-morph')

export const { Project, ts } = morph
