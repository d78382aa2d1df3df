/** Compares wrangler.toml with the bindings that the code of a project uses (contract 2.7, 5.4). */
import * as fs from 'node:fs'
import path from 'node:path'

/** @returns a sentence about missing bindings, or an empty text where none is missing or no wrangler.toml exists. */
export function missingBindings(root: string, out: string): string {
  const [deployed, needed] = [path.join(root, 'wrangler.toml'), path.join(out, 'bindings.toml')]
  if (!fs.existsSync(deployed) || !fs.existsSync(needed)) return ''
  const given = fs.readFileSync(deployed, 'utf8').replace(/^\s*#.*$/gm, '')
  const names = [...fs.readFileSync(needed, 'utf8').matchAll(/^name = "(.+)"$/gm)].map(([, name]) => name!)
  const missing = names.filter((name) => !given.includes(`"${name}"`) && !given.includes(`'${name}'`))
  return missing.length === 0
    ? ''
    : `! wrangler.toml does not bind ${missing.join(', ')}: what it needs is in ${path.relative(root, needed)}\n`
}
