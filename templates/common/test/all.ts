/** Runs every test of this folder in one process, so that all of them use one stack. */
import { readdirSync } from 'node:fs'

for (const name of readdirSync(import.meta.dirname).sort()) {
  if (name.endsWith('.test.ts')) await import(`./${name}`)
}
