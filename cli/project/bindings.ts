/** Compares wrangler.toml with what the code of a project needs of it (contract 2.7, 2.12, 5.4). */
import * as fs from 'node:fs'
import path from 'node:path'
import { canonicalSchedule } from '../../src/wire/cron.ts'

/** @returns sentences about what is missing, or an empty text where nothing is, or where no wrangler.toml exists. */
export function missingBindings(root: string, out: string): string {
  const [deployed, needed] = [path.join(root, 'wrangler.toml'), path.join(out, 'bindings.toml')]
  if (!fs.existsSync(deployed) || !fs.existsSync(needed)) return ''
  const given = fs.readFileSync(deployed, 'utf8').replace(/^\s*#.*$/gm, '')
  const wanted = fs.readFileSync(needed, 'utf8')
  const names = [...wanted.matchAll(/^name = "(.+)"$/gm)].map(([, name]) => name!)
  const missing = names.filter((name) => !given.includes(`"${name}"`) && !given.includes(`'${name}'`))
  const triggered = new Set(schedulesIn(given))
  const untriggered = schedulesIn(wanted).filter((schedule) => !triggered.has(schedule))
  const where = `what it needs is in ${path.relative(root, needed)}\n`
  return [
    missing.length > 0 ? `! wrangler.toml does not bind ${missing.join(', ')}: ${where}` : '',
    untriggered.length > 0 ? `! wrangler.toml does not trigger ${untriggered.join(', ')}: ${where}` : '',
  ].join('')
}

/** The schedules of every `crons` list in a TOML text, of environments too. */
function schedulesIn(toml: string): string[] {
  return [...toml.matchAll(/^\s*(?:triggers\.)?crons\s*=\s*\[([^\]]*)\]/gm)].flatMap(([, list]) =>
    [...list!.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, one, other]) => canonicalSchedule(one ?? other!)),
  )
}
