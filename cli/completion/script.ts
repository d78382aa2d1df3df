/** `stack completion <shell>`: a script that asks `stack __complete` for the words that fit. */
import { nearest } from '../../src/wire/nearest.ts'
import { Failure } from '../shared/failure.ts'
import { printJson, writeOut } from '../shared/output.ts'

const scripts: Record<string, string> = {
  bash: `_stack() {
  local IFS=$'\\n'
  COMPREPLY=($(stack __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _stack stack
`,
  zsh: `#compdef stack
_stack() {
  local -a found
  found=("\${(@f)$(stack __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then compadd -a found; else _files; fi
}
compdef _stack stack
`,
  fish: `complete -c stack -f -a '(stack __complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
}

export async function runCompletion({ json = false }: { json?: boolean }, shell: string): Promise<void> {
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script === undefined) {
    const near = nearest(shell, Object.keys(scripts))
    throw new Failure(
      'usage',
      `there is no completion for "${shell}": ${near ? `did you mean ${near}?` : 'the shells are bash, zsh and fish'}`,
    )
  }
  await (json ? printJson(script) : writeOut(script))
}
