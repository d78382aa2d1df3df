/** `stack env`: the stack that a command without `--env` is about (contract 10.3). Nothing is sent to it. */
import { printJson } from '../shared/output.ts'
import { readSelection } from '../shared/selection.ts'
import { chooseStack, type TargetFlags } from '../shared/target.ts'

export async function runShow(flags: TargetFlags): Promise<void> {
  const { root, project, environment, chosenBy, baseUrl, ref } = await chooseStack(flags)
  const selected = readSelection(root)
  await printJson({
    project: project.project,
    environment,
    chosen_by: chosenBy,
    base_url: baseUrl,
    ref,
    ...(selected !== undefined && selected !== environment ? { otherwise: `${selected} (stack env use)` } : {}),
  })
}
