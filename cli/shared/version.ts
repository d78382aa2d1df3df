/** The version of this package. */
import * as fs from 'node:fs'
import path from 'node:path'

export const { version } = JSON.parse(
  fs.readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8'),
) as {
  version: string
}
