/** The source of the bundle's entry: the table, and the classes it speaks of. */
import path from 'node:path'
import type { Linked } from '../link/index.ts'

/** @param runtime absolute path of `runtime/worker.ts`. @param root absolute path of the project. */
export function entrySource({ table, classes }: Linked, runtime: string, root: string): string {
  const imports = classes.map(({ file, exportName, name }, index) => {
    const source = JSON.stringify(path.join(root, file))
    return `import { ${JSON.stringify(exportName ?? name)} as class${index} } from ${source}`
  })
  return [
    `import { createWorker } from ${JSON.stringify(runtime)}`,
    ...imports,
    `const table = ${JSON.stringify(table)}`,
    `export default createWorker(table, [${classes.map((_, index) => `class${index}`).join(', ')}])`,
  ].join('\n')
}
