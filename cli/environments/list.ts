/** `stack env list`: the environments that the project declares. */
import { printJson } from '../shared/output.ts'
import { locateProject } from '../shared/project.ts'
import { readSelection } from '../shared/selection.ts'

export async function runList(flags: { project?: string }): Promise<void> {
  const { root, project } = locateProject(flags.project)
  const selected = readSelection(root)
  const data = Object.entries(project.environments).map(([name, { ref, url }]) => {
    return { name, ref, url, selected: name === selected }
  })
  await printJson({ data })
}
