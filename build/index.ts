/** The compiler. Source files go in, and refusals or a bundle come out: read → refuse → link → emit. */
import { Compiler } from './compiler.ts'
import type { BuildOptions, BuildResult } from './options.ts'
import { byPlace } from './refuse/index.ts'

/** Builds a project once. */
export async function build(options: BuildOptions): Promise<BuildResult> {
  const compiler = new Compiler({ ...options, isLast: true })
  try {
    const { refusals, linked } = compiler.check()
    if (linked) return await compiler.emit({ refusals, linked })
    return { refusals: [...refusals, ...(await compiler.checkBundling())].sort(byPlace), built: undefined }
  } finally {
    await compiler.close()
  }
}
